// LastWords: the last line with something in it of all that a program has printed, but for those of
// nvidia-imex that say [INFO]: they tell what goes well.
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
  // front, which would make each end look like a new one. "" when nothing was said, or so much went
  // well since that it does not belong to the end.
  [[nodiscard]] std::string text() const;

 private:
  void end_line();

  std::string last_, line_;  // the last line that has ended, and what has come of the next
  int routine_ = 0;          // lines since the last
};

}  // namespace cdom::imex
