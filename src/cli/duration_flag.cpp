#include "cli/duration_flag.h"

#include <charconv>
#include <utility>

namespace cdom::cli {

std::optional<base::Duration> duration_of_flag(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number > 1'000'000) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const std::pair<std::string_view, base::Duration> units[] = {{"ms", std::chrono::milliseconds(1)},
                                                               {"s", std::chrono::seconds(1)},
                                                               {"m", std::chrono::minutes(1)},
                                                               {"h", std::chrono::hours(1)}};
  for (const auto& [name, one] : units) {
    if (unit == name) return number * one;
  }
  return unit.empty() && number == 0 ? std::optional(base::Duration::zero()) : std::nullopt;
}

}  // namespace cdom::cli
