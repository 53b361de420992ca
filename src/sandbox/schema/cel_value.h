// How a value of a custom resource looks to its CEL rules.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sandbox/cel/value.h"
#include "sandbox/schema/schema.h"

namespace cdom::sandbox::schema {

// Only what the schema declares is seen; numbers of type number are doubles; names of properties
// that CEL cannot write are escaped ("a-b" is a__dash__b). Of a resource's metadata (`is_resource`)
// rules see only name and generateName.
cel::Value cel_value(const nlohmann::json& value, const Schema& schema, bool is_resource);

}  // namespace cdom::sandbox::schema
