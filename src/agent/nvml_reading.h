// One round of questions to NVML. No state.
#pragma once

#include <functional>
#include <string>

#include "compute_domain/agent/nvml_fabric.h"

namespace cdom::agent {

// Told before each call that may not return: "nvmlDeviceGetCount".
using BeforeCall = std::function<void(const std::string& call)>;

FabricFacts ask_nvml(const NvmlOptions& options, const BeforeCall& before);

}  // namespace cdom::agent
