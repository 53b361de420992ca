// What Kubernetes demands of a ResourceSlice (resource.k8s.io v1): names, limits, what may not
// change. Pure.
#pragma once

#include <vector>

#include "sandbox/apiserver/serving/status.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

// `old_slice` is null on create.
std::vector<Cause> slice_causes(const json& slice, const json* old_slice);

}  // namespace cdom::sandbox::server
