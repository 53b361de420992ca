// Claims of a domain that wait for a seat, in words. Pure.
#pragma once

#include <string>

#include "compute_domain/core/world.h"

namespace cdom::core {

// "1 pod waits: claim two-0-channel-7x2p has no seat yet (34 of 36 seats are free; r2n01 is
// cordoned; a node serves one domain at a time)"; "" when none does. A claim is a pod's.
std::string waiting_text(const World& world);

}  // namespace cdom::core
