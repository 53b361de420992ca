// The rules of ResourceClaim and ResourceClaimTemplate in resource.k8s.io v1: defaults, what may
// change, and who may write which part of a claim's status (k8s.io/kubernetes 1.36,
// apis/resource/validation and registry/resource). Pure but for authorization, which reads RBAC.
#pragma once

#include <vector>

#include "sandbox/apiserver/serving/call.h"
#include "sandbox/apiserver/serving/status.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

// allocationMode ExactCount and count 1 where a request leaves them out.
void default_claim(const Kind& kind, json& object);
// Entries of status.devices whose device the old status had allocated and the new one has not.
void drop_deallocated_devices(const json& old_claim, json& claim);

std::vector<Cause> claim_causes(const Call& call, const json& claim, const json* old_claim);
std::vector<Cause> claim_template_causes(const Call& call, const json& claim_template,
                                         const json* old_template);

}  // namespace cdom::sandbox::server
