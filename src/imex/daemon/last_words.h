// LastWords: the last line with something in it of all that a program has printed.
//
// What it keeps is bounded, however much is printed and however long a line is. One thread.
#pragma once

#include <string>
#include <string_view>

namespace cdom::imex {

class LastWords {
 public:
  void hear(std::string_view bytes);
  // For people: printable ASCII, without the time and the thread's number that nvidia-imex puts in
  // front, which would make each end look like a new one. "" when nothing was said.
  [[nodiscard]] std::string text() const;

 private:
  std::string last_, line_;  // the last line that has ended, and what has come of the next
};

}  // namespace cdom::imex
