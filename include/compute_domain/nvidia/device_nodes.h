// Device files of the GPU driver, and the numbers that the kernel has given to its devices. No
// state.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/base/result.h"

namespace cdom::nvidia {

struct DeviceNode {
  std::string path;  // below /dev: "nvidia-caps/nvidia-cap17"
  unsigned major = 0, minor = 0;
  unsigned mode = 0;
  friend bool operator==(const DeviceNode&, const DeviceNode&) = default;
};

// The major number of a character device in the text of /proc/devices.
std::optional<unsigned> character_major(std::string_view proc_devices, std::string_view name);
// What follows the name in a line such as "GPU UUID: GPU-76f0f73a" of a file in
// /proc/driver/nvidia; "" when there is no such line.
std::string text_field(std::string_view text, std::string_view name);
// The number there: "DeviceFileMinor: 17".
std::optional<unsigned> numeric_field(std::string_view text, std::string_view name);

// The NVIDIA driver's folder of the same /proc: "/proc/driver/nvidia" for "/proc/devices".
std::string proc_driver_beside(const std::string& proc_devices);

// mknod(2), with this mode whatever the umask is.
int make_device_node(const char* path, mode_t mode, dev_t device);

// Makes character devices that are missing below `dev`, and anew those of another number: the
// driver has been loaded again since.
using MakeNode = std::function<int(const char* path, mode_t mode, dev_t device)>;
base::Result<void> make_device_nodes(const std::vector<DeviceNode>& nodes, const std::string& dev,
                                     const MakeNode& make_node = make_device_node);

}  // namespace cdom::nvidia
