// Which of the members that are not connected are to blame, in words. Pure.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/core/readiness.h"

namespace cdom::core {

// Each pair once, with the node that most of them have in common: who cannot reach many others is
// the one that is lost, and so is one that many others do not reach.
std::vector<std::string> accusations(const Readiness& readiness);

}  // namespace cdom::core
