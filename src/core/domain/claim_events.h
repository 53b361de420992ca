// Events on claims that the domain does not serve, each once. Pure.
#pragma once

#include <vector>

#include "compute_domain/core/plan.h"
#include "compute_domain/core/world.h"

namespace cdom::core {

// Allocated claims that have had no such Event yet, in the order of their names.
std::vector<const api::ResourceClaim*> unreported_claims(const World& world);

void tell_claims_of_other_namespaces(const World& world, Plan& plan);
// Claims that were made before their domain was placed again.
void tell_claims_of_a_former_clique(const World& world, Plan& plan);
void tell_claims_that_come_too_late(const World& world, Plan& plan);

}  // namespace cdom::core
