// Which object a write is about that concerns no domain, so that its refusal has no condition.
#pragma once

#include <optional>

#include "compute_domain/api/core.h"
#include "compute_domain/core/plan.h"
#include "compute_domain/kube/client.h"

namespace cdom::controller {

// For an Event; nullopt: a domain's status tells of it. Of a slice that is not there yet its
// DeviceClass.
std::optional<api::ObjectReference> object_of(const core::Action& action,
                                              const kube::Client& client);

}  // namespace cdom::controller
