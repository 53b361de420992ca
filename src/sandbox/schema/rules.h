// The CEL rules of a schema (x-kubernetes-validations).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "sandbox/apiserver/rules/cause.h"
#include "sandbox/schema/schema.h"

namespace cdom::sandbox::schema {

bool has_rules(const Schema& schema);

// Adds the rules that the resource breaks. Transition rules (oldSelf) are checked where there is an
// old value; others are passed over where the value did not change.
void check_rules(const nlohmann::json& object, const nlohmann::json* old_object,
                 const Schema& schema, std::vector<Cause>& causes);

}  // namespace cdom::sandbox::schema
