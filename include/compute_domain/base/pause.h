// A thread's sleep that ends early when it is asked to stop.
#pragma once

#include <stop_token>

#include "compute_domain/base/clock.h"

namespace cdom::base {

// False when the token was stopped before `time` was over, or at its end.
bool pause(const std::stop_token& stop, Duration time);

}  // namespace cdom::base
