#include "imex/device_nodes.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>

#include "compute_domain/base/text.h"
#include "imex/files.h"
#include "imex/system_error.h"

namespace cdom::imex {

namespace fs = std::filesystem;
using base::cat;
using base::Error;
using base::ErrorKind;
using base::Result;

namespace {

constexpr unsigned kControlMinor = 255;  // of nvidiactl (the kernel module's nv.h)

std::optional<unsigned> number_of(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

// Of a line "195 nvidia" among the character devices.
std::optional<unsigned> major_of(const std::string& devices, std::string_view name) {
  bool are_characters = false;
  for (const std::string& line : base::split(devices, '\n')) {
    if (line.starts_with("Character devices:")) are_characters = true;
    if (line.starts_with("Block devices:")) are_characters = false;
    const std::string_view entry = base::trim(line);
    const std::size_t space = entry.find(' ');
    if (are_characters && space != std::string_view::npos && entry.substr(space + 1) == name) {
      return number_of(entry.substr(0, space));
    }
  }
  return std::nullopt;
}

// Of a line "DeviceFileMinor: 17".
std::optional<unsigned> field_of(const std::string& text, std::string_view name) {
  for (const std::string& line : base::split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && base::trim(line.substr(0, colon)) == name) {
      return number_of(base::trim(std::string_view(line).substr(colon + 1)));
    }
  }
  return std::nullopt;
}

Error unavailable(const std::string& what) {
  return {ErrorKind::Unavailable, cat(what, ": is the NVIDIA driver loaded on this node?")};
}

}  // namespace

Result<std::vector<DeviceNode>> needed_device_nodes(const KernelFiles& kernel) {
  const auto devices = read_file(kernel.devices);
  if (!devices) return devices.error();
  auto gpu_major = major_of(*devices, "nvidia");
  if (!gpu_major) gpu_major = major_of(*devices, "nvidia-frontend");
  if (!gpu_major) return unavailable(cat(kernel.devices, " has no device nvidia"));
  std::vector<DeviceNode> nodes{{"nvidiactl", *gpu_major, kControlMinor, 0666}};
  std::error_code error;
  for (fs::directory_iterator it(kernel.driver + "/gpus", error), end; !error && it != end;
       it.increment(error)) {
    const auto facts = read_file(it->path() / "information");
    const auto minor = facts ? field_of(*facts, "Device Minor") : std::nullopt;
    if (!minor) return unavailable(cat(it->path().string(), "/information has no Device Minor"));
    nodes.push_back({cat("nvidia", *minor), *gpu_major, *minor, 0666});
  }
  if (nodes.size() == 1) return unavailable(cat(kernel.driver, "/gpus names no GPU"));
  std::ranges::sort(nodes, {}, &DeviceNode::minor);

  const std::string capability = kernel.driver + "/capabilities/fabric-imex-mgmt";
  const auto facts = read_file(capability);
  if (!facts) return unavailable(facts.error().message);
  const auto minor = field_of(*facts, "DeviceFileMinor");
  const auto major = major_of(*devices, "nvidia-caps");
  if (!minor) return unavailable(cat(capability, " has no DeviceFileMinor"));
  if (!major) return unavailable(cat(kernel.devices, " has no device nvidia-caps"));
  nodes.push_back({cat("nvidia-caps/nvidia-cap", *minor), *major, *minor,
                   field_of(*facts, "DeviceFileMode").value_or(0400)});
  return nodes;
}

Result<void> make_device_nodes(const std::vector<DeviceNode>& nodes, const std::string& dev,
                               const MakeNode& make_node) {
  for (const DeviceNode& node : nodes) {
    const std::string path = cat(dev, "/", node.path);
    const dev_t device = makedev(node.major, node.minor);
    struct stat there {};
    if (stat(path.c_str(), &there) == 0) {
      if (S_ISCHR(there.st_mode) && there.st_rdev == device) continue;
      // Of an earlier load of the driver, which has another major number now.
      if (unlink(path.c_str()) != 0) return system_error(cat("cannot replace ", path));
    }
    auto made = make_directories(fs::path(path).parent_path());
    if (!made) return made;
    if (make_node(path.c_str(), S_IFCHR | node.mode, device) != 0 && errno != EEXIST) {
      return system_error(cat("cannot make the device file ", path));
    }
  }
  return {};
}

}  // namespace cdom::imex
