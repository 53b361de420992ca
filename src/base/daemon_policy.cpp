#include "compute_domain/base/daemon_policy.h"

#include <algorithm>

namespace cdom::base {

namespace {

constexpr int kMostDoublings = 16;

Duration doubled(Duration first, int times, Duration most) {
  return std::min(first * (1 << std::min(times, kMostDoublings)), most);
}

}  // namespace

Duration DaemonPolicy::next_pause(std::optional<Duration> ready_for) {
  if (ready_for && *ready_for >= kSteady) *this = {};
  const int before = failures_++;
  if (before == 0 && ready_for) return Duration::zero();
  return doubled(kFirstPause, before, kLastPause);
}

Duration DaemonPolicy::next_signal(std::optional<Duration> signalled) {
  return signalled ? *signalled + kSignalInterval : Duration::zero();
}

Duration DaemonPolicy::signal_gap(int changes) {
  if (changes < kPromptChanges) return Duration::zero();
  return doubled(kFirstGap, changes - kPromptChanges, kLastGap);
}

}  // namespace cdom::base
