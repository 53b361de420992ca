// LastWords: the last line that is not empty of what a program has printed, except lines of
// nvidia-imex with [INFO], which are not about errors.
//
// What it keeps is bounded, however much is printed and however long a line is. One thread.
#pragma once

#include <string>
#include <string_view>

#include "compute_domain/base/clock.h"

namespace cdom::imex {

class LastWords {
 public:
  // `now`: on one clock with that of text().
  void hear(std::string_view bytes, base::Duration now);
  // For people: printable ASCII, without the time and the thread's number that nvidia-imex puts in
  // front, which would make each end look like a new one. "" when nothing was said, or not within
  // the last minute: that does not belong to the end.
  [[nodiscard]] std::string text(base::Duration now) const;

 private:
  void end_line(base::Duration now);

  std::string last_, line_;   // the last line that has ended, and what has come of the next
  base::Duration said_at_{};  // the last
};

}  // namespace cdom::imex
