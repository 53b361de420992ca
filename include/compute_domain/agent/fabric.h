// Fabric: what the node's GPUs say about the NVLink fabric they are in. A port.
#pragma once

#include "compute_domain/core/node_world.h"

namespace cdom::agent {

class Fabric {
 public:
  virtual ~Fabric() = default;
  // Cheap enough to ask at every step; an implementation over NVML caches.
  virtual core::FabricReading read() = 0;
};

}  // namespace cdom::agent
