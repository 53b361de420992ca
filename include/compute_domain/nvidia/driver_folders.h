// Folders of a node in which its NVIDIA driver may be. No state.
#pragma once

#include <string>
#include <vector>

namespace cdom::nvidia {

// Below the driver root, in this order: where the reference driver looks, the root itself first,
// and then where Talos and Bottlerocket have the driver.
const std::vector<std::string>& driver_program_folders();
const std::vector<std::string>& driver_library_folders();

}  // namespace cdom::nvidia
