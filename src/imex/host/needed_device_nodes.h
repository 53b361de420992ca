// The device files that nvidia-imex needs: every GPU, and the capability fabric-imex-mgmt.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/base/result.h"
#include "compute_domain/nvidia/device_nodes.h"

namespace cdom::imex {

struct KernelFiles {
  std::string devices = "/proc/devices";
  std::string driver = "/proc/driver/nvidia";
};

// What the kernel driver says that there is. Unavailable: it is not loaded, or has no IMEX.
base::Result<std::vector<nvidia::DeviceNode>> needed_device_nodes(const KernelFiles& kernel);

}  // namespace cdom::imex
