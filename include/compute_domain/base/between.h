// between: how far apart two times are that somebody else wrote. Their difference may be more than
// a Duration holds: a Kubernetes object may have a time of the year 1. Pure.
#pragma once

#include "compute_domain/base/clock.h"

namespace cdom::base {

// From one time to another, no more than a century either way.
constexpr Duration between(Time from, Time to) {
  constexpr auto kCentury = std::chrono::hours(24 * 36'525);
  const bool is_far = std::chrono::abs(std::chrono::duration<double>(to.time_since_epoch()) -
                                       from.time_since_epoch()) > kCentury;
  if (!is_far) return to - from;
  return to < from ? -kCentury : kCentury;
}

}  // namespace cdom::base
