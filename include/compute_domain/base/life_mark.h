// LifeMark: a file that shows others whether its holders live.
//
// A holder has a lock on it, which ends with the last process that has the descriptor, however that
// ends; so a process can pass it to a child. Looking takes no lock, and several may hold it.
// Needs open file description locks (Linux 3.15).
#pragma once

#include <string>

#include "compute_domain/base/descriptor.h"
#include "compute_domain/base/result.h"

namespace cdom::base {

class LifeMark {
 public:
  // Makes the file when there is none.
  static Result<LifeMark> hold(const std::string& path);
  // A process that inherits it counts as a holder.
  [[nodiscard]] int descriptor() const { return file_.get(); }

  // Whether all that have ever held it have ended. False without the file, as that is not known.
  static bool is_free(const std::string& path);

 private:
  explicit LifeMark(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

}  // namespace cdom::base
