// DriverRoot: where the node's NVIDIA driver lies, as this pod sees it.
//
// The programs run in the pod's own root, with the pod's C library: only NVIDIA's libraries come
// from the driver root, and what the programs need that the pod does not have, by links in a
// directory of ours. So /etc/hosts and name resolution are the pod's, and it does not matter how
// much of a system the driver root is. Links below the root are followed as on the host.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compute_domain/base/result.h"

namespace cdom::imex {

// Folders are paths below the root, searched before the usual ones (nvidia/driver_folders.h).
struct DriverPlace {
  std::string root;
  std::vector<std::string> program_folders, library_folders;
  std::string own_root;      // of this pod; "": /
  bool needs_daemon = true;  // else the control tool is enough
};

struct DriverFiles {
  std::string daemon, control_tool;              // paths of the programs
  std::map<std::string, std::string> libraries;  // by name: their paths
  std::vector<std::string> missing;  // names of libraries that neither the pod nor the root has
};

// Any NVIDIA libraries that are there, or none: no package of nvidia-imex brings a library of its
// own. Invalid: names the program that is missing, where it was looked for, and the flags.
base::Result<DriverFiles> find_driver_files(const DriverPlace& place);

// Makes `directory` hold links to the libraries, and nothing else; for LD_LIBRARY_PATH.
base::Result<void> link_libraries(const DriverFiles& files, const std::string& directory);

}  // namespace cdom::imex
