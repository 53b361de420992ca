#include "cli/environment.h"

#include <cstdlib>

namespace cdom::cli {

std::optional<std::string> find_variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody writes it
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string variable(const char* name) { return find_variable(name).value_or(""); }

}  // namespace cdom::cli
