#include "imex/daemon/last_words.h"

#include <algorithm>
#include <vector>

#include "compute_domain/base/text.h"

namespace cdom::imex {

namespace {

constexpr std::size_t kLongest = 300;
constexpr base::Duration kRecent = std::chrono::minutes(1);

// "[Mar 03 2025 17:26:19]" or "[tid 38]"; "[ERROR]" and "[fe80::1]" are neither.
bool is_bookkeeping(std::string_view bracket) {
  const bool has_space = bracket.find(' ') != std::string_view::npos;
  return bracket.starts_with("[tid ") || (has_space && bracket.find(':') != std::string_view::npos);
}

// The brackets that a line begins with, and the rest.
struct Parts {
  std::vector<std::string_view> brackets;
  std::string_view rest;
};

Parts parts_of(std::string_view line) {
  Parts parts{{}, base::trim(line)};
  while (parts.rest.starts_with('[')) {
    const std::size_t end = parts.rest.find("] ");
    if (end == std::string_view::npos) break;
    parts.brackets.push_back(parts.rest.substr(0, end + 1));
    parts.rest = base::trim(parts.rest.substr(end + 2));
  }
  return parts;
}

}  // namespace

void LastWords::end_line(base::Duration now) {
  const bool is_routine = std::ranges::count(parts_of(line_).brackets, "[INFO]") > 0;
  if (!is_routine && !base::trim(line_).empty()) {
    last_ = line_;
    said_at_ = now;
  }
  line_.clear();
}

void LastWords::hear(std::string_view bytes, base::Duration now) {
  for (const char c : bytes) {
    if (c == '\n') {
      end_line(now);
      continue;
    }
    const auto code = static_cast<unsigned char>(c);
    const bool is_control = code < 0x20 || code == 0x7f;
    if ((is_control && c != '\t') || line_.size() >= kLongest) continue;
    line_ += c == '\t' ? ' ' : code < 0x80 ? c : '?';
  }
}

std::string LastWords::text(base::Duration now) const {
  LastWords ended = *this;
  ended.end_line(now);
  if (now - ended.said_at_ > kRecent) return "";
  const Parts parts = parts_of(ended.last_);
  std::string kept;
  for (const std::string_view bracket : parts.brackets) {
    if (!is_bookkeeping(bracket)) kept += base::cat(bracket, ' ');
  }
  return base::cat(kept, parts.rest);
}

}  // namespace cdom::imex
