// DriverRoot: where the node's NVIDIA driver lies, as this pod sees it.
//
// The programs run in the pod's own root, with the pod's C library: only NVIDIA's libraries come
// from the driver root, by links in a directory of ours. So /etc/hosts and name resolution are the
// pod's, and it does not matter how much of a system the driver root is. Links below the root are
// followed as on the host.
#pragma once

#include <map>
#include <string>

#include "compute_domain/base/result.h"

namespace cdom::imex {

struct DriverFiles {
  std::string daemon, control_tool;              // paths of the programs
  std::map<std::string, std::string> libraries;  // NVIDIA's, by name: their paths
};

// Where the reference driver looks. Invalid: names the first file that is missing, where it was
// looked for, and the flag.
base::Result<DriverFiles> find_driver_files(const std::string& root);

// Makes `directory` hold links to the libraries, and nothing else; for LD_LIBRARY_PATH.
base::Result<void> link_libraries(const DriverFiles& files, const std::string& directory);

}  // namespace cdom::imex
