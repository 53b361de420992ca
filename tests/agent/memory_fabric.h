// MemoryFabric: a fabric that says what it is told to say.
#pragma once

#include <string>
#include <utility>

#include "compute_domain/agent/fabric.h"

namespace cdom::agent {

class MemoryFabric : public Fabric {
 public:
  explicit MemoryFabric(std::string clique) : reading{std::move(clique), {}} {}

  core::FabricReading reading;

  core::FabricReading read() override { return reading; }
};

}  // namespace cdom::agent
