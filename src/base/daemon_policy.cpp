#include "compute_domain/base/daemon_policy.h"

#include <algorithm>

namespace cdom::base {

Duration DaemonPolicy::next_pause(std::optional<Duration> ready_for) {
  if (ready_for && *ready_for >= kSteady) *this = {};
  const int before = failures_++;
  if (before == 0 && ready_for) return Duration::zero();
  constexpr int kMostDoublings = 16;
  return std::min(kFirstPause * (1 << std::min(before, kMostDoublings)), kLastPause);
}

Duration DaemonPolicy::next_signal(std::optional<Duration> signalled) {
  return signalled ? *signalled + kSignalInterval : Duration::zero();
}

}  // namespace cdom::base
