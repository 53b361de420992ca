// LineSplitter: lines out of pieces of text that were cut anywhere.
//
// A piece may end in the middle of a line or hold many lines; the rest of the last one is carried
// over to the next piece. A value, for one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace cdom::http {

class LineSplitter {
 public:
  static constexpr char kPart[] = "line";  // for errors

  void add(std::string_view piece);
  // The next whole line without its newline ("\n" or "\r\n"); there until the next call.
  [[nodiscard]] std::optional<std::string_view> next();
  // What is left without a newline; empties the splitter.
  [[nodiscard]] std::string rest();
  // Bytes of the unfinished line, once next() has given nothing.
  [[nodiscard]] std::size_t carried() const { return text_.size() - begin_; }

 private:
  std::string text_;
  std::size_t begin_ = 0;    // of the first line not given out
  std::size_t scanned_ = 0;  // no newline in [begin_, scanned_)
};

}  // namespace cdom::http
