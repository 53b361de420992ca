// Files of this repository, for tests that use what is shipped instead of a copy of it.
#pragma once

#include <filesystem>
#include <string>

namespace cdom {

// The repository's root.
const std::filesystem::path& source_tree();

// The text of a file in it. Throws std::runtime_error when it cannot be read.
std::string source_text(const std::filesystem::path& path_in_tree);

}  // namespace cdom
