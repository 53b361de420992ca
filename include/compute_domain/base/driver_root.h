// The root of the host's NVIDIA driver, as this container sees it. Reads links, keeps nothing.
#pragma once

#include <string>
#include <vector>

namespace cdom::base {

// Below the root, in this order: where the reference driver looks, the root itself first, and then
// where Talos and Bottlerocket have the driver.
const std::vector<std::string>& driver_program_folders();
const std::vector<std::string>& driver_library_folders();

// What `path` of the host is here: an absolute link below the root means a path of the host.
std::string path_below(const std::string& root, const std::string& path);

}  // namespace cdom::base
