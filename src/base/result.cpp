#include "compute_domain/base/result.h"

namespace cdom::base {

std::string_view name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::NotFound:
      return "NotFound";
    case ErrorKind::AlreadyExists:
      return "AlreadyExists";
    case ErrorKind::Conflict:
      return "Conflict";
    case ErrorKind::Expired:
      return "Expired";
    case ErrorKind::Invalid:
      return "Invalid";
    case ErrorKind::Forbidden:
      return "Forbidden";
    case ErrorKind::Unavailable:
      return "Unavailable";
    case ErrorKind::Cancelled:
      return "Cancelled";
  }
  return "Unknown";
}

std::string to_string(const Error& error) {
  return std::string(name_of(error.kind)) + ": " + error.message;
}

}  // namespace cdom::base
