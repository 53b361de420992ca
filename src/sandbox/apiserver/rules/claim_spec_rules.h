// What Kubernetes demands of spec.devices of a new claim or template (resource.k8s.io v1).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sandbox/apiserver/serving/call.h"
#include "sandbox/apiserver/serving/status.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

// Names by which configs, constraints and results may refer to requests: "main", "main/sub".
std::set<std::string> request_names(const json& devices);

// `field` is where `devices` stands: "spec.devices".
std::vector<Cause> claim_spec_causes(const Call& call, const json& devices,
                                     const std::string& field);

}  // namespace cdom::sandbox::server
