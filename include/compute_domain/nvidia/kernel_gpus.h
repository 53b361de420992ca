// The GPUs that the driver's kernel module has.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compute_domain/base/files.h"
#include "compute_domain/base/result.h"

namespace cdom::nvidia {

struct KernelGpu {
  std::string uuid;         // "" while it has never been initialised
  std::string device_file;  // "/dev/nvidia0", or "" when its number is not known
};

// Gives the text of a GPU's file.
using ReadGpu = std::function<base::Result<std::string>(const std::string& path)>;

// Those of `proc_driver`/gpus (/proc/driver/nvidia) that nobody has excluded and whose file can be
// read, by their address on the bus. None when there is no such folder. It may take as long as the
// driver hangs, but for what `read` does.
std::vector<KernelGpu> kernel_gpus(const std::string& proc_driver,
                                   const ReadGpu& read = base::read_file);

}  // namespace cdom::nvidia
