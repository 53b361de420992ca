// The device files that nvidia-imex needs: every GPU, and the capability fabric-imex-mgmt.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compute_domain/base/result.h"
#include "compute_domain/nvidia/device_nodes.h"

namespace cdom::imex {

struct KernelFiles {
  std::string devices = "/proc/devices";
  std::string driver = "/proc/driver/nvidia";
};

// By the folder of the GPU, "0000:01:00.0". To read one of them waits for a lock of the driver
// (NVIDIA/open-gpu-kernel-modules, nv_procfs_read_gpu_info), and for ever where that hangs.
using GpuMinors = std::map<std::string, unsigned>;

// What the kernel driver says that there is. Unavailable: it is not loaded, or has no IMEX. Reads
// no file of a GPU that is in `known`, adds the others, and takes out those that are not there: all
// where the driver is not.
base::Result<std::vector<nvidia::DeviceNode>> needed_device_nodes(const KernelFiles& kernel,
                                                                  GpuMinors& known);

}  // namespace cdom::imex
