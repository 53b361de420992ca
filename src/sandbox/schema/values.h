// Validation of values against a schema, without its CEL rules.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sandbox/apiserver/rules/cause.h"
#include "sandbox/schema/schema.h"

namespace cdom::sandbox::schema {

// Adds what is wrong with `value`, which stands at `path`. A part that is equal to its stored state
// (`old_value`, may be null) is not looked at: an update may leave as it is what an older schema
// accepted (ratcheting, KEP-4008).
void check_values(const nlohmann::json& value, const nlohmann::json* old_value,
                  const Schema& schema, const std::string& path, std::vector<Cause>& causes);

}  // namespace cdom::sandbox::schema
