// Files of objects for a dry run: those that are named, and the manifests of folders.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compute_domain/base/result.h"
#include "compute_domain/controller/dry_run.h"

namespace cdom::controller {

// Files that were named, and those that a folder has, by name. What cannot be read of a folder, or
// that it has no manifest, is a problem, and the rest is read all the same.
struct FoundFiles {
  std::vector<std::string> files;
  std::set<std::string> of_folders;  // those of the files that nobody has named
  std::vector<std::string> problems;
};
FoundFiles files_below(const std::vector<std::string>& paths);

// The texts of the files; "-" is standard input. An error names the first that cannot be read, and
// says why.
base::Result<std::vector<ObjectFile>> read_object_files(const FoundFiles& found);

}  // namespace cdom::controller
