#include "plugin/age.h"

#include "compute_domain/base/text.h"

namespace cdom::plugin {

base::Duration between(base::Time from, base::Time to) {
  constexpr auto kCentury = std::chrono::hours(24 * 36'525);
  const bool is_far = std::chrono::abs(std::chrono::duration<double>(to.time_since_epoch()) -
                                       from.time_since_epoch()) > kCentury;
  if (!is_far) return to - from;
  return to < from ? -kCentury : kCentury;
}

std::string age(base::Time now, base::Time then) {
  const base::Duration past = between(then, now);
  if (past < std::chrono::seconds(1)) return "just now";
  return base::cat(base::short_duration(past), " ago");
}

}  // namespace cdom::plugin
