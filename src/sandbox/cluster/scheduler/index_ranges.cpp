#include "sandbox/cluster/scheduler/index_ranges.h"

#include <charconv>
#include <optional>

#include "compute_domain/base/text.h"

namespace cdom::sandbox {
namespace {

constexpr std::int64_t kMost = 1'000'000;

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || value < 0 || value > kMost) return std::nullopt;
  return value;
}

}  // namespace

std::string to_ranges(const std::set<std::int64_t>& indexes) {
  std::vector<std::string> ranges;
  for (auto index = indexes.begin(); index != indexes.end();) {
    const std::int64_t first = *index;
    std::int64_t last = first;
    while (++index != indexes.end() && *index == last + 1) ++last;
    ranges.push_back(first == last ? std::to_string(first) : base::cat(first, "-", last));
  }
  return base::join(ranges, ",");
}

std::set<std::int64_t> parse_ranges(std::string_view text) {
  std::set<std::int64_t> indexes;
  for (const std::string& range : base::split(text, ',')) {
    const std::size_t dash = range.find('-');
    const auto first = number(std::string_view(range).substr(0, dash));
    const auto last =
        dash == std::string::npos ? first : number(std::string_view(range).substr(dash + 1));
    if (!first || !last) continue;
    for (std::int64_t index = *first; index <= *last; ++index) indexes.insert(index);
  }
  return indexes;
}

}  // namespace cdom::sandbox
