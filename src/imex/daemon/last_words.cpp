#include "imex/daemon/last_words.h"

#include "compute_domain/base/text.h"

namespace cdom::imex {

namespace {

constexpr std::size_t kLongest = 300;

// "[Mar 03 2025 17:26:19]" or "[tid 38]"; "[ERROR]" and "[fe80::1]" are neither.
bool is_bookkeeping(std::string_view bracket) {
  const bool has_space = bracket.find(' ') != std::string_view::npos;
  return bracket.starts_with("[tid ") || (has_space && bracket.find(':') != std::string_view::npos);
}

}  // namespace

void LastWords::hear(std::string_view bytes) {
  for (const char c : bytes) {
    if (c == '\n') {
      if (!base::trim(line_).empty()) last_ = line_;
      line_.clear();
      continue;
    }
    const auto code = static_cast<unsigned char>(c);
    const bool is_control = code < 0x20 || code == 0x7f;
    if ((is_control && c != '\t') || line_.size() >= kLongest) continue;
    line_ += c == '\t' ? ' ' : code < 0x80 ? c : '?';
  }
}

std::string LastWords::text() const {
  std::string_view rest = base::trim(line_);
  if (rest.empty()) rest = base::trim(last_);
  std::string kept;
  while (rest.starts_with('[')) {
    const std::size_t end = rest.find("] ");
    if (end == std::string_view::npos) break;
    const std::string_view bracket = rest.substr(0, end + 1);
    if (!is_bookkeeping(bracket)) kept += base::cat(bracket, ' ');
    rest = base::trim(rest.substr(end + 2));
  }
  return base::cat(kept, rest);
}

}  // namespace cdom::imex
