#include "compute_domain/base/system_error.h"

#include <cerrno>
#include <system_error>

#include "compute_domain/base/text.h"

namespace cdom::base {

namespace {

// What a person can do about it, where the system's own words do not say so.
const char* remedy(int number) {
  switch (number) {
    case ENOSPC:
    case EDQUOT:
      return "; free some space there";
    case EISDIR:
      return "; a file belongs there: remove the folder, or name a file";
    case EROFS:
      return "; mount it writable";
    case EACCES:
      return "; see the owner and mode of the path, and in a pod its security context";
    case EMFILE:
      return "; raise this process's limit of open files";
    default:
      return "";
  }
}

}  // namespace

Error system_error(const std::string& what, int number) {
  const auto kind = number == ENOENT ? ErrorKind::NotFound : ErrorKind::Unavailable;
  return {kind, cat(what, ": ", std::generic_category().message(number), remedy(number))};
}

Error system_error(const std::string& what) { return system_error(what, errno); }

}  // namespace cdom::base
