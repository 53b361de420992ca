// What exec(3) and posix_spawn(3) take of a list of texts.
#pragma once

#include <string>
#include <vector>

namespace cdom::base {

// A pointer to each, and a null pointer. The texts have to outlive it, and nobody writes them.
std::vector<char*> argument_list(const std::vector<std::string>& texts);

}  // namespace cdom::base
