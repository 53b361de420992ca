#include "imex/system_error.h"

#include <cerrno>
#include <system_error>

#include "compute_domain/base/text.h"

namespace cdom::imex {

base::Error system_error(const std::string& what, int number) {
  const auto kind = number == ENOENT ? base::ErrorKind::NotFound : base::ErrorKind::Unavailable;
  return {kind, base::cat(what, ": ", std::generic_category().message(number))};
}

base::Error system_error(const std::string& what) { return system_error(what, errno); }

}  // namespace cdom::imex
