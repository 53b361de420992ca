// What the API server does with a custom resource before it stores it: defaults, pruning,
// validation.
//
// Call them in this order on create and update: prune, apply_defaults, validate. Pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sandbox/apiserver/rules/cause.h"
#include "sandbox/schema/schema.h"

namespace cdom::sandbox::schema {

// Sets absent fields to their defaults. A default does not create its absent parent. A null where
// none may be counts as absent: without a default it goes.
void apply_defaults(nlohmann::json& object, const Schema& schema);

// Removes the fields that the schema does not declare and returns their paths ("spec.x",
// "spec.items[0].y"), in order, for fieldValidation Warn and Strict. apiVersion, kind and metadata
// of the root are kept as they are.
std::vector<std::string> prune(nlohmann::json& object, const Schema& schema);

// Everything that is wrong with `object`; empty when nothing is. `old_object` is the stored object
// of an update, null for a create. CEL rules are not checked when a
// value is missing, too long or of a wrong type; a cause says so.
std::vector<Cause> validate(const nlohmann::json& object, const nlohmann::json* old_object,
                            const Schema& schema);

}  // namespace cdom::sandbox::schema
