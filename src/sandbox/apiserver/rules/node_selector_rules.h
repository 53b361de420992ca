// What Kubernetes demands of a v1.NodeSelector that says where devices are: a slice's, an
// allocation's (core validation, ValidateNodeSelector). Pure.
#pragma once

#include <string>
#include <vector>

#include "sandbox/apiserver/serving/status.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

// `field` is where the selector is, such as "spec.nodeSelector".
std::vector<Cause> node_selector_causes(const json& selector, const std::string& field);

}  // namespace cdom::sandbox::server
