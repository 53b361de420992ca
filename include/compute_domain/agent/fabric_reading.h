// What the node agent's decisions see of what the GPUs say about their NVLink fabric.
#pragma once

#include "compute_domain/core/node_world.h"
#include "compute_domain/nvidia/fabric_verdict.h"

namespace cdom::agent {

using nvidia::FabricFacts;
using nvidia::FabricHealth;
using nvidia::FabricMode;
using nvidia::FabricState;
using nvidia::GpuFacts;

core::FabricReading reading_of(const FabricFacts& facts, FabricMode mode);

}  // namespace cdom::agent
