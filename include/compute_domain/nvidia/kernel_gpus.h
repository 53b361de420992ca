// The GPUs that the driver's kernel module has.
#pragma once

#include <string>
#include <vector>

namespace cdom::nvidia {

struct KernelGpu {
  std::string uuid;         // "" while it has never been initialised
  std::string device_file;  // "/dev/nvidia0", or "" when its number is not known
};

// Those of `proc_driver`/gpus (/proc/driver/nvidia) that nobody has excluded, by their address on
// the bus. None when there is no such folder.
std::vector<KernelGpu> kernel_gpus(const std::string& proc_driver);

}  // namespace cdom::nvidia
