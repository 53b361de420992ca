// age: how far times of objects are apart, and how long ago one was, for people. Pure.
#pragma once

#include <string>

#include "compute_domain/base/clock.h"

namespace cdom::plugin {

// From one time to another, no more than a century either way: a difference of times that somebody
// else wrote may be more than a Duration holds.
base::Duration between(base::Time from, base::Time to);

// "just now", "12s ago", "5m ago". Times of objects are in whole seconds, and clocks differ a bit.
std::string age(base::Time now, base::Time then);

}  // namespace cdom::plugin
