// Pace: how long a write that nobody waits for still waits, and when its key looks again. Pure.
#pragma once

#include <algorithm>
#include <optional>

#include "compute_domain/base/clock.h"
#include "compute_domain/core/plan.h"

namespace cdom::core {

// What is left of `interval` since `written`. Zero when nothing was written, or when the clock has
// been set back since.
inline base::Duration left_of(base::Duration interval, const std::optional<base::Time>& written,
                              base::Time now) {
  if (!written || *written > now) return base::Duration::zero();
  return std::max<base::Duration>(interval - (now - *written), base::Duration::zero());
}

inline void look_again_after(base::Duration left, Plan& plan) {
  plan.look_again = std::min(plan.look_again.value_or(left), left);
}

}  // namespace cdom::core
