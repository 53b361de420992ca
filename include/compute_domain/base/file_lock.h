// FileLock: at most one holder of a path at a time, among all processes of this machine.
//
// The lock ends with the object, and with the process however that ends. The file stays; that
// somebody removes it meanwhile does not make two holders.
#pragma once

#include <string>

#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/result.h"

namespace cdom::base {

class FileLock {
 public:
  // Makes the file when there is none. Conflict: somebody else holds it. Returns at once.
  static Result<FileLock> try_acquire(const std::string& path);

 private:
  explicit FileLock(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

}  // namespace cdom::base
