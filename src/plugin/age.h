// age: how long ago something was, for people. Pure.
#pragma once

#include <string>

#include "compute_domain/base/clock.h"

namespace cdom::plugin {

// "just now", "12s ago", "5m ago". Times of objects are in whole seconds, and clocks differ a bit.
std::string age(base::Time now, base::Time then);

}  // namespace cdom::plugin
