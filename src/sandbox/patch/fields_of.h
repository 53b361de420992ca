// Which fields an object has, and which of them changed, by the merge rules of its kind.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "compute_domain/base/result.h"
#include "sandbox/patch/field_set.h"
#include "sandbox/patch/merge_rules.h"

namespace cdom::sandbox::patch {

// The fields of `object` that can be owned: not apiVersion, kind and the metadata that the server
// keeps. Errors: a field that the rules do not know (".spec.x: field not declared in schema"), an
// item of a map list without its keys or with those of another item.
base::Result<FieldSet> fields_of(const nlohmann::json& object, const MergeRules& rules);

// As fields_of(), for a stored object: what the rules do not know is taken as a whole, and a map or
// list that is not empty is a field too, beside what it holds.
FieldSet stored_fields_of(const nlohmann::json& object, const MergeRules& rules);

// The fields that `after` has and `before` has not, or with another value; a map or list that is
// new is one, beside what it holds.
FieldSet changed_fields(const nlohmann::json& before, const nlohmann::json& after,
                        const MergeRules& rules);

// The stored fields that `before` has and `after` has not.
FieldSet lost_fields(const nlohmann::json& before, const nlohmann::json& after,
                     const MergeRules& rules);

// Removes what is never owned: apiVersion, metadata.uid and so on.
void drop_untracked(FieldSet& set);

// `k:{"name":"a"}`, the path element of an item of a map list; "" when it has none of the keys.
std::string item_element(const nlohmann::json& item, const MergeRule& rule);

}  // namespace cdom::sandbox::patch
