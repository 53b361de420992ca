// The texts about members that cannot reach others, and which of them is to blame. Pure.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/core/readiness.h"

namespace cdom::core {

// Each pair once, with the node that most of them have in common: who cannot reach many others is
// the one that is lost, and so is one that many others do not reach.
std::vector<std::string> accusations(const Readiness& readiness);

// The same pairs without a word on who is to blame; there has to be one.
std::string complaints(const Readiness& readiness);

}  // namespace cdom::core
