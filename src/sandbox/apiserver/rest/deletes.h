// Delete and deletecollection, with preconditions, finalizers, propagation and a pod's grace.
// Called with the state's mutex held; they throw StatusError.
#pragma once

#include <string>

#include "sandbox/apiserver/serving/call.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

http::Response delete_object(Call& call);
http::Response delete_collection(Call& call);

// Whether an object that is being deleted has nothing left to wait for.
bool is_ready_to_go(const json& object);
// Stores the last state and removes the object in one go; watchers see only the removal.
Object remove_last_state(Call& call, const std::string& key, json last);

}  // namespace cdom::sandbox::server
