// age: how long ago a time of an object was, for people. Pure.
#pragma once

#include <string>

#include "compute_domain/base/between.h"

namespace cdom::plugin {

using base::between;

// "just now", "12s ago", "5m ago". Times of objects are in whole seconds, and clocks differ a bit.
std::string age(base::Time now, base::Time then);

}  // namespace cdom::plugin
