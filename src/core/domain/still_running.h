// What a deletion waits for: pods, claims and nodes that may still use the domain. Pure.
#pragma once

#include <set>
#include <string>

#include "compute_domain/core/status.h"
#include "compute_domain/core/world.h"

namespace cdom::core {

// UIDs of claims that the predecessor cannot have prepared: they were made after it had gone, for
// nodes that our agent had before. That agent refuses them, so they wait for the predecessor's end;
// if it waited for theirs too, both would wait for ever.
std::set<std::string> late_claims(const World& world);

// UIDs of the held claims that the cache knows: enough to say what a deletion waits for, not to
// prove that none is left.
std::set<std::string> cached_held_claims(const World& world);

// How to end the pods of an automatic domain by its workload; "" where that is of no object's.
std::string end_of_workload(const api::ComputeDomain& domain);

// Pods whose containers may still run; claims that are held for none; and nodes whose own word says
// that they still serve a claim, although it is gone.
WaitsFor what_still_runs(const World& world);

}  // namespace cdom::core
