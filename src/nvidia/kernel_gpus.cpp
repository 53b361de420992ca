#include "compute_domain/nvidia/kernel_gpus.h"

#include <algorithm>
#include <filesystem>

#include "compute_domain/base/text.h"
#include "compute_domain/nvidia/device_nodes.h"

namespace cdom::nvidia {

namespace fs = std::filesystem;
using base::cat;

std::vector<KernelGpu> kernel_gpus(const std::string& proc_driver, const ReadGpu& read) {
  if (proc_driver.empty()) return {};
  std::vector<std::string> folders;
  std::error_code error;
  for (fs::directory_iterator it(proc_driver + "/gpus", error), end; !error && it != end;
       it.increment(error)) {
    folders.push_back(it->path());
  }
  std::ranges::sort(folders);
  std::vector<KernelGpu> gpus;
  for (const std::string& folder : folders) {
    const auto text = read(folder + "/information");
    if (!text || text_field(*text, "GPU Excluded") == "Yes") continue;
    KernelGpu gpu{.uuid = text_field(*text, "GPU UUID")};
    if (gpu.uuid.find('?') != std::string::npos) gpu.uuid.clear();
    if (const auto minor = numeric_field(*text, "Device Minor")) {
      gpu.device_file = cat("/dev/nvidia", *minor);
    }
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace cdom::nvidia
