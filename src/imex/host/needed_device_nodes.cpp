#include "imex/host/needed_device_nodes.h"

#include <sys/stat.h>

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

std::optional<ino_t> inode_of(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return std::nullopt;
  return facts.st_ino;
}

}  // namespace

Result<unsigned> NeededDeviceNodes::minor_of(const std::string& gpu_folder) {
  const std::string path = gpu_folder + "/information";
  const auto facts = reader_.read(path, patience_);
  if (!facts && reader_.hangs()) {
    return Error{ErrorKind::Unavailable,
                 cat(facts.error().message,
                     ": the GPU driver hangs; see the kernel log for Xid errors, and restart this "
                     "node when nothing else helps")};
  }
  if (!facts) return unavailable(facts.error().message);
  const auto minor = numeric_field(*facts, "Device Minor");
  if (!minor) return unavailable(cat(path, " has no Device Minor"));
  return static_cast<unsigned>(*minor);
}

// Those that are there, and as far as possible without a read.
Result<void> NeededDeviceNodes::update() {
  const auto before = std::exchange(minors_, {});
  const std::string gpus = kernel_.driver + "/gpus";
  std::optional<Error> unreadable;
  std::error_code error;
  for (fs::directory_iterator it(gpus, error), end; !error && it != end; it.increment(error)) {
    const std::string gpu = it->path().filename();
    if (const auto same = before.find(gpu); same != before.end()) {
      minors_.insert(*same);
    } else if (unreadable) {
      continue;  // of a driver that hangs each would take its time
    } else if (const auto minor = minor_of(it->path())) {
      minors_[gpu] = *minor;
    } else {
      unreadable = minor.error();
    }
  }
  if (unreadable) return *unreadable;
  if (minors_.empty()) return unavailable(cat(gpus, " names no GPU"));
  return {};
}

Result<std::vector<DeviceNode>> NeededDeviceNodes::look() {
  const auto devices = base::read_file(kernel_.devices);
  if (!devices) return devices.error();
  auto gpu_major = character_major(*devices, "nvidia");
  if (!gpu_major) gpu_major = character_major(*devices, "nvidia-frontend");
  // Their numbers may be others when it is loaded again.
  const auto module = inode_of(kernel_.module);
  if (!gpu_major || module != module_) minors_.clear();
  module_ = module;
  if (!gpu_major) return unavailable(cat(kernel_.devices, " has no device nvidia"));
  if (const auto updated = update(); !updated) return updated.error();
  std::vector<DeviceNode> nodes{{"nvidiactl", *gpu_major, kControlMinor, 0666}};
  for (const auto& [gpu, minor] : minors_) {
    nodes.push_back({cat("nvidia", minor), *gpu_major, minor, 0666});
  }
  std::ranges::sort(nodes, {}, &DeviceNode::minor);

  const std::string capability = kernel_.driver + "/capabilities/fabric-imex-mgmt";
  const auto facts = base::read_file(capability);
  if (!facts) return unavailable(facts.error().message);
  const auto minor = numeric_field(*facts, "DeviceFileMinor");
  const auto major = character_major(*devices, "nvidia-caps");
  if (!minor) return unavailable(cat(capability, " has no DeviceFileMinor"));
  if (!major) return unavailable(cat(kernel_.devices, " has no device nvidia-caps"));
  nodes.push_back({cat("nvidia-caps/nvidia-cap", *minor), *major, *minor,
                   numeric_field(*facts, "DeviceFileMode").value_or(0400)});
  return nodes;
}

}  // namespace cdom::imex
