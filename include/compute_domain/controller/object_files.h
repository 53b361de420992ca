// Files of objects for a dry run: those that are named, and the manifests of folders.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/base/result.h"
#include "compute_domain/controller/dry_run.h"

namespace cdom::controller {

// Files that a folder has, by name; what cannot be read is a problem, and the rest is read all the
// same.
struct FoundFiles {
  std::vector<std::string> files;
  std::vector<std::string> problems;
};
FoundFiles files_below(const std::vector<std::string>& paths);

// The texts of the files; "-" is standard input. Invalid: names the first that cannot be read.
base::Result<std::vector<ObjectFile>> read_object_files(const std::vector<std::string>& files);

}  // namespace cdom::controller
