// The environment that a program is started with. No program of ours writes it once it has threads,
// so that any thread may read it.
#pragma once

#include <optional>
#include <string>

namespace cdom::cli {

// nullopt where it is not set.
std::optional<std::string> find_variable(const char* name);
// "" where it is not set: a kube::Environment.
std::string variable(const char* name);

}  // namespace cdom::cli
