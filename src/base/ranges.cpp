#include "compute_domain/base/ranges.h"

#include <charconv>
#include <optional>
#include <vector>

#include "compute_domain/base/text.h"

namespace cdom::base {

std::string ranges_text(const std::set<std::int64_t>& numbers) {
  std::string text;
  for (auto it = numbers.begin(); it != numbers.end();) {
    const std::int64_t first = *it;
    std::int64_t last = first;
    for (++it; it != numbers.end() && *it == last + 1; ++it) last = *it;
    if (!text.empty()) text += ',';
    text += last == first ? cat(first) : cat(first, "-", last);
  }
  return text;
}

std::set<std::int64_t> parse_ranges(std::string_view text) {
  const auto number = [](std::string_view digits) -> std::optional<std::int64_t> {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool whole = error == std::errc{} && end == digits.data() + digits.size();
    return whole && value >= 0 && value < kRangesEnd ? std::optional(value) : std::nullopt;
  };
  std::set<std::int64_t> numbers;
  if (text.empty()) return numbers;
  for (const std::string& range : split(text, ',')) {
    const std::vector<std::string> ends = split(range, '-');
    const auto first = number(ends.front());
    const auto last = number(ends.back());
    if (ends.size() > 2 || !first || !last || *first > *last) return {};
    if (!numbers.empty() && *first <= *numbers.rbegin()) return {};
    for (std::int64_t n = *first; n <= *last; ++n) numbers.insert(numbers.end(), n);
  }
  return numbers;
}

}  // namespace cdom::base
