// What an ELF file says that it needs. Pure, but for reading the file.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/base/result.h"

namespace cdom::imex {

// The names of the shared libraries that the loader looks for when it starts this program or loads
// this library (DT_NEEDED). Invalid: no 64-bit ELF file of this machine's byte order; a script, or
// a program that needs none, has none.
base::Result<std::vector<std::string>> needed_libraries(const std::string& path);

}  // namespace cdom::imex
