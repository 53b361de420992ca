// Formations: the ways in which the pods of a domain come, for whoever counts what they cost.
//
// The cluster is settled and has the domain "train" with its template, and the requests are counted
// from before that domain; each way ends when the domain has been Ready for half a minute. They
// throw std::runtime_error when it does not get Ready.
#pragma once

#include <memory>

#include "system/rig.h"

namespace cdom::system_test {

// Of the options the seed and the number of nodes are replaced.
std::unique_ptr<Rig> cluster_with_domain(std::uint64_t seed, int nodes, RigOptions options = {});

// All are allocated before the controller sees any.
void form_in_one_pass(Rig& rig, int nodes);
// Each when the one before has settled.
void form_one_by_one(Rig& rig, int nodes);
// At random moments, some 110 ms apart.
void form_at_random(Rig& rig, int nodes);

// Requests of the operator that did not succeed.
bool is_refused(const WriteRequest& write);
// All that the operator writes but Leases.
bool is_of_operator_but_lease(const WriteRequest& write);

}  // namespace cdom::system_test
