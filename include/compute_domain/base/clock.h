// Clock: the only way in which time enters this program.
//
// now() is wall-clock time, for what people and other processes read (timestamps); elapsed() is
// monotonic, for every timeout and deadline. All clocks here are thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace cdom::base {

using Duration = std::chrono::nanoseconds;
using Time = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Time now() const = 0;
  // Time since an arbitrary start; never goes back.
  [[nodiscard]] virtual Duration elapsed() const = 0;
};

class SystemClock : public Clock {
 public:
  [[nodiscard]] Time now() const override;
  [[nodiscard]] Duration elapsed() const override;
};

// The earlier of two moments of Clock::elapsed(), of which either may be absent.
inline std::optional<Duration> earlier(std::optional<Duration> a, std::optional<Duration> b) {
  if (!a) return b;
  return !b || *a < *b ? a : b;
}

// A clock that moves only when told to, for tests and for virtual time.
class ManualClock : public Clock {
 public:
  // Starts at 2026-01-01T00:00:00Z with elapsed() zero.
  ManualClock();
  [[nodiscard]] Time now() const override;
  [[nodiscard]] Duration elapsed() const override;
  void advance(Duration by);

 private:
  std::atomic<Duration::rep> elapsed_{0};
};

// RFC 3339 in UTC with seconds, as Kubernetes writes metav1.Time: "2026-01-02T03:04:05Z".
std::string to_rfc3339(Time time);
// With six digits, as metav1.MicroTime: "2026-01-02T03:04:05.000006Z".
std::string to_rfc3339_micro(Time time);
// Reads both forms, and what else of RFC 3339 others write and an API server keeps: any number of
// fraction digits, behind a comma too, an offset in place of "Z", small letters. nullopt for
// anything else. A year before 1678 or after 2261 gives the first or the last day of these.
std::optional<Time> parse_rfc3339(std::string_view text);
// So many seconds after the beginning of 1970; a year before 1678 or after 2261 as above.
Time time_of_seconds(std::int64_t seconds_since_1970);

// "350ms", "12s", "5m", "3h", "2d": one unit, as kubectl's AGE column prints ages from seconds up.
std::string short_duration(Duration duration);

}  // namespace cdom::base
