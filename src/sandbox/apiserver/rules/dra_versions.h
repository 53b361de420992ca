// The shapes of resource.k8s.io: v1 (which v1beta2 shares) and v1beta1.
//
// v1beta1 differs in two places: a device request is flat where v1 has `exactly`, and a slice's
// device keeps its content under `basic` (facts: k8s.io/api/resource, conversions). In place; pure.
#pragma once

#include "sandbox/apiserver/kinds/kinds.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

void dra_from_v1(const Kind& kind, json& object);
void dra_to_v1(const Kind& kind, json& object);

}  // namespace cdom::sandbox::server
