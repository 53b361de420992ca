#include "http/client/stream/line_splitter.h"

#include <utility>

namespace cdom::http {

void LineSplitter::add(std::string_view piece) {
  text_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  text_ += piece;
}

std::optional<std::string_view> LineSplitter::next() {
  const std::size_t newline = text_.find('\n', scanned_);
  if (newline == std::string::npos) {
    scanned_ = text_.size();
    return std::nullopt;
  }
  std::size_t end = newline;
  if (end > begin_ && text_[end - 1] == '\r') --end;
  const std::string_view line = std::string_view(text_).substr(begin_, end - begin_);
  begin_ = scanned_ = newline + 1;
  return line;
}

std::string LineSplitter::rest() {
  std::string rest = text_.substr(begin_);
  *this = {};
  return rest;
}

}  // namespace cdom::http
