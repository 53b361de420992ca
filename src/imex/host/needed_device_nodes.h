// The device files that nvidia-imex needs: every GPU, and the capability fabric-imex-mgmt.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/base/apart_reader.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"
#include "compute_domain/nvidia/device_nodes.h"

namespace cdom::imex {

struct KernelFiles {
  std::string devices = "/proc/devices";
  std::string driver = "/proc/driver/nvidia";
  // The kernel gives its folder another inode number each time that the driver is loaded.
  std::string module = "/sys/module/nvidia";
};

// What the kernel driver says that there is. To read the file of a GPU waits for a lock of the
// driver (NVIDIA/open-gpu-kernel-modules, nv_procfs_read_gpu_info), and for ever where that hangs:
// each is read once while the driver is loaded and the GPU there, in a process apart. One thread.
class NeededDeviceNodes {
 public:
  explicit NeededDeviceNodes(KernelFiles kernel, base::Duration patience = std::chrono::seconds(1))
      : kernel_(std::move(kernel)), patience_(patience) {}

  // Unavailable: the driver is not loaded, has no IMEX, or has not let a file of a GPU be read
  // within `patience`; while that lasts no further one is read.
  base::Result<std::vector<nvidia::DeviceNode>> look();
  // Whether that is a process that reads for it.
  [[nodiscard]] bool has(pid_t pid) const { return reader_.has(pid); }

 private:
  base::Result<unsigned> minor_of(const std::string& gpu_folder);
  base::Result<void> update();

  const KernelFiles kernel_;
  const base::Duration patience_;
  base::ApartReader reader_;
  std::map<std::string, unsigned> minors_;  // by the folder of the GPU, "0000:01:00.0"
  std::optional<ino_t> module_;             // with which they were read
};

}  // namespace cdom::imex
