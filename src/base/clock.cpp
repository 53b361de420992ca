#include "compute_domain/base/clock.h"

#include <cstdio>

namespace cdom::base {

namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::seconds;

constexpr Time kManualStart{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};

constexpr int kFirstYear = 1678;
constexpr int kLastYear = 2261;
constexpr std::chrono::sys_days kFirstDay{std::chrono::year{kFirstYear} / 1 / 1};
constexpr std::chrono::sys_days kLastDay{std::chrono::year{kLastYear} / 12 / 31};

struct Calendar {
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<std::chrono::microseconds> time;
};

Calendar calendar_of(Time time) {
  const auto day = floor<days>(time);
  return {std::chrono::year_month_day{day},
          std::chrono::hh_mm_ss{floor<std::chrono::microseconds>(time - day)}};
}

// Reads exactly `width` digits at `*at` and moves past them.
std::optional<int> digits(std::string_view text, std::size_t* at, std::size_t width) {
  int value = 0;
  if (*at + width > text.size()) return std::nullopt;
  for (std::size_t i = 0; i < width; ++i) {
    const char c = text[*at + i];
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  *at += width;
  return value;
}

// One of `expected`.
bool skip(std::string_view text, std::size_t* at, std::string_view expected) {
  if (*at >= text.size() || expected.find(text[*at]) == std::string_view::npos) return false;
  ++*at;
  return true;
}

// "Z", "+00:00" or "-08:30", to the end of the text: how far it is ahead of UTC.
std::optional<std::chrono::minutes> zone(std::string_view text, std::size_t* at) {
  std::chrono::minutes ahead{0};
  if (!skip(text, at, "Zz")) {
    const bool is_behind = *at < text.size() && text[*at] == '-';
    if (!skip(text, at, "+-")) return std::nullopt;
    const auto hours = digits(text, at, 2);
    if (!hours || !skip(text, at, ":")) return std::nullopt;
    const auto minutes = digits(text, at, 2);
    if (!minutes) return std::nullopt;
    ahead = std::chrono::hours{*hours} + std::chrono::minutes{*minutes};
    if (is_behind) ahead = -ahead;
  }
  if (*at != text.size()) return std::nullopt;
  return ahead;
}

}  // namespace

Time SystemClock::now() const { return std::chrono::system_clock::now(); }

Duration SystemClock::elapsed() const {
  return std::chrono::steady_clock::now().time_since_epoch();
}

ManualClock::ManualClock() = default;
Time ManualClock::now() const { return kManualStart + elapsed(); }
Duration ManualClock::elapsed() const { return Duration{elapsed_.load()}; }
void ManualClock::advance(Duration by) { elapsed_ += by.count(); }

std::string to_rfc3339(Time time) {
  const Calendar c = calendar_of(time);
  char out[32];
  std::snprintf(out, sizeof out, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(c.date.year()),
                static_cast<unsigned>(c.date.month()), static_cast<unsigned>(c.date.day()),
                static_cast<int>(c.time.hours().count()),
                static_cast<int>(c.time.minutes().count()),
                static_cast<int>(c.time.seconds().count()));
  return out;
}

std::string to_rfc3339_micro(Time time) {
  char fraction[16];
  std::snprintf(fraction, sizeof fraction, ".%06dZ",
                static_cast<int>(calendar_of(time).time.subseconds().count()));
  std::string out = to_rfc3339(time);
  out.pop_back();
  return out + fraction;
}

std::optional<Time> parse_rfc3339(std::string_view text) {
  std::size_t at = 0;
  const auto year = digits(text, &at, 4);
  if (!year || !skip(text, &at, "-")) return std::nullopt;
  const auto month = digits(text, &at, 2);
  if (!month || !skip(text, &at, "-")) return std::nullopt;
  const auto day = digits(text, &at, 2);
  if (!day || !skip(text, &at, "Tt")) return std::nullopt;
  const auto hour = digits(text, &at, 2);
  if (!hour || !skip(text, &at, ":")) return std::nullopt;
  const auto minute = digits(text, &at, 2);
  if (!minute || !skip(text, &at, ":")) return std::nullopt;
  const auto second = digits(text, &at, 2);
  if (!second) return std::nullopt;

  Duration fraction{0};
  if (skip(text, &at, ".,")) {
    Duration::rep unit = 100'000'000;
    const std::size_t first = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10) {
      fraction += Duration{unit * (text[at] - '0')};
    }
    if (at == first) return std::nullopt;
  }
  const auto ahead = zone(text, &at);
  if (!ahead) return std::nullopt;

  // What 64 bits of nanoseconds can say. Kubernetes has years outside of it: Go's zero time.
  if (*year < kFirstYear) return kFirstDay;
  if (*year > kLastYear) return kLastDay;

  const auto date = std::chrono::year{*year} / *month / *day;
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  return Time{std::chrono::sys_days{date}} + std::chrono::hours{*hour} +
         std::chrono::minutes{*minute} + seconds{*second} + fraction - *ahead;
}

Time time_of_seconds(std::int64_t seconds_since_1970) {
  // Counts in days, as the nanoseconds may overflow.
  const std::chrono::sys_seconds time{seconds(seconds_since_1970)};
  if (floor<days>(time) < kFirstDay) return kFirstDay;
  if (floor<days>(time) > kLastDay) return kLastDay;
  return time;
}

std::string short_duration(Duration duration) {
  using namespace std::chrono_literals;
  const auto count = [&](Duration unit) { return std::to_string(duration / unit); };
  if (duration < 1s) return count(1ms) + "ms";
  if (duration < 2min) return count(1s) + "s";
  if (duration < 3h) return count(1min) + "m";
  if (duration < 48h) return count(1h) + "h";
  return count(24h) + "d";
}

}  // namespace cdom::base
