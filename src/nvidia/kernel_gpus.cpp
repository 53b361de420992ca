#include "compute_domain/nvidia/kernel_gpus.h"

#include <algorithm>
#include <filesystem>

#include "compute_domain/base/files.h"
#include "compute_domain/base/text.h"
#include "compute_domain/nvidia/device_nodes.h"

namespace cdom::nvidia {

namespace {

namespace fs = std::filesystem;
using base::cat;

// As `information` has it; "" when it does not.
std::string field(const std::string& information, std::string_view name) {
  for (const std::string& line : base::split(information, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || base::trim(line.substr(0, colon)) != name) continue;
    return std::string(base::trim(std::string_view(line).substr(colon + 1)));
  }
  return {};
}

}  // namespace

std::vector<KernelGpu> kernel_gpus(const std::string& proc_driver) {
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
    const auto text = base::read_file(folder + "/information");
    if (!text || field(*text, "GPU Excluded") == "Yes") continue;
    KernelGpu gpu{.uuid = field(*text, "GPU UUID")};
    if (gpu.uuid.find('?') != std::string::npos) gpu.uuid.clear();
    if (const auto minor = numeric_field(*text, "Device Minor")) {
      gpu.device_file = cat("/dev/nvidia", *minor);
    }
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace cdom::nvidia
