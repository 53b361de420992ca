// The two changes that a server-side apply makes to the live object.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sandbox/patch/field_set.h"
#include "sandbox/patch/merge_rules.h"

namespace cdom::sandbox::patch {

// Sets in `live` all that `config` says, by the merge rules.
void merge_config(nlohmann::json& live, const nlohmann::json& config, const MergeRules& rules);

// Removes the members of `dropped`, but for what has a member of `kept` at or below it; a map or
// list that becomes empty by this goes too.
void remove_fields(nlohmann::json& object, const FieldSet& dropped, const FieldSet& kept,
                   const MergeRules& rules);

}  // namespace cdom::sandbox::patch
