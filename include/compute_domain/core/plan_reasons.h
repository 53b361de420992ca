// Why the steps of a plan are done, for people who read one. Pure.
#pragma once

#include <string>

#include "compute_domain/core/plan.h"

namespace cdom::core {

// "spec.channel asks for it, and pods name it to get a seat".
std::string reason_for(const Action& action);

}  // namespace cdom::core
