#include "compute_domain/base/daemon_policy.h"

#include <algorithm>
#include <utility>

namespace cdom::base {

Duration DaemonPolicy::next_pause(std::optional<Duration> ready_for) {
  if (ready_for && *ready_for >= kSteady) *this = {};
  const bool is_first = !std::exchange(has_failed_, true);
  if (is_first && ready_for) return Duration::zero();
  constexpr int kMostDoublings = 16;
  return std::min(kFirstPause * (1 << std::min(pauses_++, kMostDoublings)), kLastPause);
}

Duration DaemonPolicy::next_signal(std::optional<Duration> signalled) {
  return signalled ? *signalled + kSignalInterval : Duration::zero();
}

}  // namespace cdom::base
