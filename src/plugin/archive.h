// Archive: files in one .tar.gz, in memory, by libarchive. Pure.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"

namespace cdom::plugin {

struct ArchivedFile {
  std::string name;
  std::string text;

  friend bool operator==(const ArchivedFile&, const ArchivedFile&) = default;
};

// The same files and time give the same bytes.
base::Result<std::string> packed(const std::vector<ArchivedFile>& files, base::Time time);

// Invalid: it is not a .tar.gz, it is cut off, or there is too much in it. Entries that are not
// files are left out.
base::Result<std::vector<ArchivedFile>> unpacked(const std::string& archive);

}  // namespace cdom::plugin
