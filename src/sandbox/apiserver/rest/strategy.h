// Strategy: in what the kinds differ when they are written: defaults, which endpoint writes which
// part, generation, and what Kubernetes validates for the kinds that this project relies upon.
//
// Objects are in their stored version here. prepare_…() changes what the client sent into what may
// be stored; strategy_causes() says what is wrong with that.
#pragma once

#include <string>
#include <vector>

#include "sandbox/apiserver/serving/call.h"
#include "sandbox/apiserver/serving/status.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

void prepare_create(Call& call, json& object);
// After keep_server_metadata(). Puts back the part that this endpoint does not write (status on the
// main one, the rest on /status) and counts the generation.
void prepare_update(Call& call, const json& old_object, json& object);
// `old_object` is null on create.
std::vector<Cause> strategy_causes(const Call& call, const json& object, const json* old_object);

// The top-level fields that the endpoint of this call does not write.
std::vector<std::string> reset_fields(const Call& call);

}  // namespace cdom::sandbox::server
