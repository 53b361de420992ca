// every_key: all keys that the objects in the stores concern.
#pragma once

#include <set>

#include "compute_domain/controller/gather.h"

namespace cdom::controller {

std::set<Key> every_key(const Sources& from);

}  // namespace cdom::controller
