#include "imex/host/needed_device_nodes.h"

#include <algorithm>
#include <filesystem>

#include "compute_domain/base/files.h"
#include "compute_domain/base/text.h"

namespace cdom::imex {

namespace fs = std::filesystem;
using base::cat;
using base::Error;
using base::ErrorKind;
using base::Result;
using nvidia::character_major;
using nvidia::DeviceNode;
using nvidia::numeric_field;

namespace {

constexpr unsigned kControlMinor = 255;  // of nvidiactl (the kernel module's nv.h)

Error unavailable(const std::string& what) {
  return {ErrorKind::Unavailable, cat(what, ": is the NVIDIA driver loaded on this node?")};
}

// Those that are there, and as far as possible without a read.
Result<GpuMinors> gpu_minors(const std::string& gpus, const GpuMinors& known) {
  GpuMinors minors;
  std::error_code error;
  for (fs::directory_iterator it(gpus, error), end; !error && it != end; it.increment(error)) {
    const std::string gpu = it->path().filename();
    if (const auto before = known.find(gpu); before != known.end()) {
      minors.insert(*before);
      continue;
    }
    const auto facts = base::read_file(it->path() / "information");
    const auto minor = facts ? numeric_field(*facts, "Device Minor") : std::nullopt;
    if (!minor) return unavailable(cat(it->path().string(), "/information has no Device Minor"));
    minors[gpu] = static_cast<unsigned>(*minor);
  }
  if (minors.empty()) return unavailable(cat(gpus, " names no GPU"));
  return minors;
}

}  // namespace

Result<std::vector<DeviceNode>> needed_device_nodes(const KernelFiles& kernel, GpuMinors& known) {
  const auto devices = base::read_file(kernel.devices);
  if (!devices) return devices.error();
  auto gpu_major = character_major(*devices, "nvidia");
  if (!gpu_major) gpu_major = character_major(*devices, "nvidia-frontend");
  if (!gpu_major) {
    known.clear();
    return unavailable(cat(kernel.devices, " has no device nvidia"));
  }
  auto minors = gpu_minors(kernel.driver + "/gpus", known);
  known = minors ? *minors : GpuMinors{};
  if (!minors) return minors.error();
  std::vector<DeviceNode> nodes{{"nvidiactl", *gpu_major, kControlMinor, 0666}};
  for (const auto& [gpu, minor] : known) {
    nodes.push_back({cat("nvidia", minor), *gpu_major, minor, 0666});
  }
  std::ranges::sort(nodes, {}, &DeviceNode::minor);

  const std::string capability = kernel.driver + "/capabilities/fabric-imex-mgmt";
  const auto facts = base::read_file(capability);
  if (!facts) return unavailable(facts.error().message);
  const auto minor = numeric_field(*facts, "DeviceFileMinor");
  const auto major = character_major(*devices, "nvidia-caps");
  if (!minor) return unavailable(cat(capability, " has no DeviceFileMinor"));
  if (!major) return unavailable(cat(kernel.devices, " has no device nvidia-caps"));
  nodes.push_back({cat("nvidia-caps/nvidia-cap", *minor), *major, *minor,
                   numeric_field(*facts, "DeviceFileMode").value_or(0400)});
  return nodes;
}

}  // namespace cdom::imex
