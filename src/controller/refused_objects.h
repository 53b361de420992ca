// The object of a write that concerns no domain, so that no condition shows its refusal.
#pragma once

#include <optional>

#include "compute_domain/api/core.h"
#include "compute_domain/core/plan.h"
#include "compute_domain/kube/client.h"

namespace cdom::controller {

// The object for the Event; nullopt: a domain's status reports the refusal. For a slice that is not
// there yet, its DeviceClass.
std::optional<api::ObjectReference> object_of(const core::Action& action,
                                              const kube::Client& client);

}  // namespace cdom::controller
