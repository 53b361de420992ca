#include "compute_domain/base/system_error.h"

#include <cerrno>
#include <system_error>

#include "compute_domain/base/text.h"

namespace cdom::base {

Error system_error(const std::string& what, int number) {
  const auto kind = number == ENOENT ? ErrorKind::NotFound : ErrorKind::Unavailable;
  return {kind, cat(what, ": ", std::generic_category().message(number))};
}

Error system_error(const std::string& what) { return system_error(what, errno); }

}  // namespace cdom::base
