#include "compute_domain/nvidia/device_nodes.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>

#include "compute_domain/base/files.h"
#include "compute_domain/base/system_error.h"
#include "compute_domain/base/text.h"

namespace cdom::nvidia {

using base::cat;
using base::split;
using base::system_error;
using base::trim;

namespace {

std::optional<unsigned> number_of(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<unsigned> character_major(std::string_view proc_devices, std::string_view name) {
  bool are_characters = false;
  for (const std::string& line : split(proc_devices, '\n')) {
    if (line.starts_with("Character devices:")) are_characters = true;
    if (line.starts_with("Block devices:")) are_characters = false;
    const std::string_view entry = trim(line);
    const std::size_t space = entry.find(' ');
    if (are_characters && space != std::string_view::npos && entry.substr(space + 1) == name) {
      return number_of(entry.substr(0, space));
    }
  }
  return std::nullopt;
}

std::string proc_driver_beside(const std::string& proc_devices) {
  return cat(proc_devices.substr(0, proc_devices.rfind('/')), "/driver/nvidia");
}

std::string text_field(std::string_view text, std::string_view name) {
  for (const std::string& line : split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && trim(line.substr(0, colon)) == name) {
      return std::string(trim(std::string_view(line).substr(colon + 1)));
    }
  }
  return {};
}

std::optional<unsigned> numeric_field(std::string_view text, std::string_view name) {
  return number_of(text_field(text, name));
}

int make_device_node(const char* path, mode_t mode, dev_t device) {
  if (mknod(path, mode, device) != 0) return -1;
  return chmod(path, mode & 07777U);
}

base::Result<void> make_device_nodes(const std::vector<DeviceNode>& nodes, const std::string& dev,
                                     const MakeNode& make_node) {
  for (const DeviceNode& node : nodes) {
    const std::string path = cat(dev, "/", node.path);
    const dev_t device = makedev(node.major, node.minor);
    struct stat there {};
    if (stat(path.c_str(), &there) == 0) {
      if (S_ISCHR(there.st_mode) && there.st_rdev == device) continue;
      // It is left from an earlier load of the driver, which has another major number now.
      if (unlink(path.c_str()) != 0) return system_error(cat("cannot replace ", path));
    }
    auto made = base::make_directories(std::filesystem::path(path).parent_path());
    if (!made) return made;
    if (make_node(path.c_str(), S_IFCHR | node.mode, device) != 0 && errno != EEXIST) {
      return system_error(cat("cannot make the device file ", path));
    }
  }
  return {};
}

}  // namespace cdom::nvidia
