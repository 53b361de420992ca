#include "core/node/start_policy.h"

#include <algorithm>

namespace cdom::core {

base::Duration start_delay(bool complete, base::Duration unchanged, base::Duration known,
                           const NodeTimes& times) {
  if (complete) return base::Duration::zero();
  const base::Duration left = std::min(times.list_settles - unchanged, times.list_patience - known);
  return std::max(left, base::Duration::zero());
}

base::Duration restart_delay(int failures, const NodeTimes& times) {
  const int doublings = std::clamp(failures - 1, 0, 16);
  return std::min(times.first_restart * (1 << doublings), times.last_restart);
}

}  // namespace cdom::core
