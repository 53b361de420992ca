// Files, read and written whole. No state.
#pragma once

#include <string>

#include "compute_domain/base/result.h"

namespace cdom::base {

// NotFound when there is none.
Result<std::string> read_file(const std::string& path);

// A reader sees the old file or the new one, never a part; makes the directory. What is written
// next to it meanwhile ends in ".next".
Result<void> replace_file(const std::string& path, const std::string& text);
// The same, and it outlives a loss of power: success means that the new file is on the disk.
Result<void> replace_file_durably(const std::string& path, const std::string& text);

// Where a person names the file: a link stays, and what it leads to is replaced; the file keeps its
// permissions; no other file is touched, whatever is beside it, and no directory is made. Invalid
// for what is no regular file.
Result<void> replace_users_file(const std::string& path, const std::string& text);
// Whether that would do now, for who needs a while for the text. The same errors.
Result<void> can_replace_users_file(const std::string& path);

// Keeps the inode: the file may be a bind mount, as a pod's /etc/hosts is. One write.
Result<void> rewrite_in_place(const std::string& path, const std::string& text);

// Success also when there is none. What a killed process has left next to it goes, too.
Result<void> remove_file(const std::string& path);

Result<void> make_directories(const std::string& path);

}  // namespace cdom::base
