// Versions: the same object in another version of its API group.
//
// Storage holds one version of each resource; requests come and go in the version of their path.
// Custom resources have the conversion strategy None: only apiVersion differs. Pure.
#pragma once

#include "sandbox/apiserver/kinds/kinds.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

// Whether objects of this kind are stored just as they are shown.
bool is_stored_form(const Kind& kind);
json from_storage(const Kind& kind, const json& stored);
json to_storage(const Kind& kind, json object);

}  // namespace cdom::sandbox::server
