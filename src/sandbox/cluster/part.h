// Part: a piece of the simulated cluster that is driven from outside, in steps.
//
// step() does one unit of work if there is any and says whether there was; it never waits. What
// has to happen later is told by next_due(), in the terms of Clock::elapsed(). Parts share one
// thread.
#pragma once

#include <optional>

#include "compute_domain/base/clock.h"

namespace cdom::sandbox {

class Part {
 public:
  virtual ~Part() = default;
  virtual bool step() = 0;
  [[nodiscard]] virtual std::optional<base::Duration> next_due() const = 0;
};

using base::earlier;  // of what several parts say

}  // namespace cdom::sandbox
