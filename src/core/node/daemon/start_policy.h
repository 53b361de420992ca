// The start policy: when a daemon may read its table for the first time.
//
// A daemon that starts before its peers' names resolve backs off for 15 s and more, so it waits a
// moment for them; but it never waits until a number of peers is there. Pure.
#pragma once

#include "compute_domain/core/node_world.h"

namespace cdom::core {

// How long to wait still; zero: start now. `unchanged` and `known` are ages.
base::Duration start_delay(bool complete, base::Duration unchanged, base::Duration known,
                           const NodeTimes& times);

}  // namespace cdom::core
