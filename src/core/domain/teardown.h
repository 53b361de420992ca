// The end of a domain, and of what is left of one that is gone. Pure.
#pragma once

#include "compute_domain/core/plan.h"
#include "compute_domain/core/world.h"

namespace cdom::core {

// The domain is not in the cache, which proves nothing: the API server is asked before anything
// that carries its UID is removed, or a claim gets an Event that its domain is unknown.
Plan reconcile_absent(const World& world);

// The order: the template goes at once, so that no new claim is made; then the status says what
// still runs; when nothing does, and a live LIST agrees, the node lists go; and only when the API
// server has confirmed that every child is gone does the finalizer.
Plan reconcile_deleting(const World& world);

// The proof, from the API server, that no claim is held.
Action claims_released(const World& world);
EnsurePredecessorGone predecessor_gone(const World& world);

}  // namespace cdom::core
