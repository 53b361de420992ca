// What a claim that kubelet names must have. Pure.
#pragma once

#include <string>

#include "dra/claim_calls.h"

namespace cdom::dra {

// The error of a claim that cannot be; empty for any other.
std::string problem_of(Operation operation, const Claim& claim);

}  // namespace cdom::dra
