// Who may write which part of a ResourceClaim's status: Kubernetes 1.36's
// DRAResourceClaimGranularStatusAuthorization, checked beyond the plain rights on
// resourceclaims/status. What is not allowed is a 422, not a 403.
#pragma once

#include <vector>

#include "sandbox/apiserver/serving/call.h"
#include "sandbox/apiserver/serving/status.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

std::vector<Cause> status_authorization_causes(const Call& call, const json& claim,
                                               const json& old_claim);

}  // namespace cdom::sandbox::server
