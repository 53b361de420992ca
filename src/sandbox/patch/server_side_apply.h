// Server-side apply, and the tracking of who owns which field (metadata.managedFields).
//
// apply() merges an applied configuration into the live object; track_write() records what a
// create, update or patch changed. Neither touches resourceVersion or generation: compare the
// object before and after (is_same_but_for_times) to see whether there is anything to store. Pure
// functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "compute_domain/base/result.h"
#include "sandbox/apiserver/rules/cause.h"
#include "sandbox/patch/merge_rules.h"

namespace cdom::sandbox::patch {

// Who writes: one entry of managedFields.
struct FieldManager {
  std::string name;
  std::string api_version;  // as in the object, "resource.nvidia.com/v1beta1"
  std::string subresource;  // "status", or empty
  std::string time;         // RFC 3339, the time of this write
};

// Merges `config` (only what the manager wants to own, plus apiVersion, kind, metadata.name) into
// `live` and rewrites its managedFields; `live` is an empty object when there is none yet.
// Returns the conflicts (reason FieldManagerConflict): if there are any, `live` is as it was. With
// `force` there are none. `reset_fields` are the top-level fields that this endpoint does not write
// ({"status"}; for /status {"spec", "metadata"}): dropped from config and not owned. Errors: a
// field that the schema does not declare, duplicate or missing list keys, managedFields in config.
base::Result<std::vector<Cause>> apply(nlohmann::json& live, nlohmann::json config,
                                       const FieldManager& manager, bool force,
                                       const std::vector<std::string>& reset_fields,
                                       const MergeRules& rules);

// `Apply failed with 1 conflict: conflict with "kubectl" using v1: .spec.replicas`.
std::string conflict_message(const std::vector<Cause>& conflicts);

// Records in `after` (about to be stored) what changed against `before`: the manager's Update entry
// gains it, nobody keeps what is gone. `before` is an empty object on create. managedFields that
// the client sent are ignored but for [] and [{}], which reset the tracking.
void track_write(const nlohmann::json& before, nlohmann::json& after, const FieldManager& manager,
                 const std::vector<std::string>& reset_fields, const MergeRules& rules);

// Whether storing `after` would change nothing but the times in managedFields (and
// resourceVersion).
bool is_same_but_for_times(const nlohmann::json& before, const nlohmann::json& after);

}  // namespace cdom::sandbox::patch
