// Predecessor: the ComputeDomain controller of NVIDIA's DRA driver, which this one takes the place
// of. Two that write the same objects would undo each other's work, so only one may run.
#pragma once

#include <optional>
#include <string>

#include "compute_domain/kube/client.h"

namespace cdom::controller {

// Where it is at work, for people: a Deployment of its chart with a ready pod, or a Lease of its
// that somebody renews; `own_lease` is not looked at. nullopt: nothing shows one, also when we may
// not look.
std::optional<std::string> find_predecessor(const kube::Client& client, base::Time now,
                                            const api::ObjectName& own_lease);

}  // namespace cdom::controller
