#include "core/node/daemon/start_policy.h"

#include <algorithm>

namespace cdom::core {

base::Duration start_delay(bool complete, base::Duration unchanged, base::Duration known,
                           const NodeTimes& times) {
  if (complete) return base::Duration::zero();
  const base::Duration left = std::min(times.list_settles - unchanged, times.list_patience - known);
  return std::max(left, base::Duration::zero());
}

}  // namespace cdom::core
