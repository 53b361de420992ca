// The device files that nvidia-imex needs: every GPU, and the capability fabric-imex-mgmt.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "compute_domain/base/result.h"

namespace cdom::imex {

struct DeviceNode {
  std::string path;  // below /dev: "nvidia-caps/nvidia-cap17"
  unsigned major = 0, minor = 0;
  unsigned mode = 0;
  friend bool operator==(const DeviceNode&, const DeviceNode&) = default;
};

struct KernelFiles {
  std::string devices = "/proc/devices";
  std::string driver = "/proc/driver/nvidia";
};

// What the kernel driver says that there is. Unavailable: it is not loaded, or has no IMEX.
base::Result<std::vector<DeviceNode>> needed_device_nodes(const KernelFiles& kernel);

// Makes those that are missing, as nvidia-modprobe does.
using MakeNode = std::function<int(const char* path, mode_t mode, dev_t device)>;
base::Result<void> make_device_nodes(const std::vector<DeviceNode>& nodes, const std::string& dev,
                                     const MakeNode& make_node);

}  // namespace cdom::imex
