// Files as the IMEX owner writes them. No state.
#pragma once

#include <string>

#include "compute_domain/base/result.h"

namespace cdom::imex {

// NotFound when there is none.
base::Result<std::string> read_file(const std::string& path);

// A reader sees the old file or the new one, never a part; makes the directory.
base::Result<void> replace_file(const std::string& path, const std::string& text);

// Keeps the inode: the file may be a bind mount, as a pod's /etc/hosts is. One write.
base::Result<void> rewrite_in_place(const std::string& path, const std::string& text);

base::Result<void> make_directories(const std::string& path);

}  // namespace cdom::imex
