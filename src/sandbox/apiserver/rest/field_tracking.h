// Who owns which field (metadata.managedFields), for the writes of one call.
#pragma once

#include <string>

#include "sandbox/apiserver/serving/call.h"
#include "sandbox/patch/merge_rules.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

const patch::MergeRules& merge_rules_of(const Kind& kind);

// The query's fieldManager, or the program's name in the User-Agent.
std::string field_manager_of(const http::Request& request, const RequestInfo& info);

// Records in `after` what the call changes against `before`. Nothing for a server-side apply, which
// has recorded it while merging.
void track_fields(const Call& call, const json& before, json& after);

// Whether there is nothing to store: equal but for the times of managedFields.
bool is_unchanged(const json& before, const json& after);

}  // namespace cdom::sandbox::server
