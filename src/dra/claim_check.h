// What a claim that kubelet names must have. Pure.
#pragma once

#include <string>

#include "compute_domain/dra/driver.h"

namespace cdom::dra {

// The error of a claim that cannot be; empty for any other.
std::string problem_of(Operation operation, const Claim& claim);

}  // namespace cdom::dra
