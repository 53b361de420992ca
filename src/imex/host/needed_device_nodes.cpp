#include "imex/host/needed_device_nodes.h"

#include <algorithm>
#include <filesystem>
#include <utility>

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
Result<void> update(GpuMinors& known, const std::string& gpus) {
  const GpuMinors before = std::exchange(known, {});
  std::string unreadable;
  std::error_code error;
  for (fs::directory_iterator it(gpus, error), end; !error && it != end; it.increment(error)) {
    const std::string gpu = it->path().filename();
    if (const auto same = before.find(gpu); same != before.end()) {
      known.insert(*same);
      continue;
    }
    const auto facts = base::read_file(it->path() / "information");
    const auto minor = facts ? numeric_field(*facts, "Device Minor") : std::nullopt;
    if (minor) {
      known[gpu] = static_cast<unsigned>(*minor);
    } else {
      unreadable = it->path();
    }
  }
  if (!unreadable.empty()) return unavailable(cat(unreadable, "/information has no Device Minor"));
  if (known.empty()) return unavailable(cat(gpus, " names no GPU"));
  return {};
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
  if (const auto read = update(known, kernel.driver + "/gpus"); !read) return read.error();
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
