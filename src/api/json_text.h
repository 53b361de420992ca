// JSON text to and from the library's document. The only way in: what comes from here is bounded
// in depth, so that whoever walks it may recurse, and is without managedFields, which nobody here
// reads and which are a third of what an API server sends.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "compute_domain/base/result.h"

namespace cdom::api {

using Json = nlohmann::json;

// Invalid: line, column and what the parser expected there.
base::Result<Json> parse_json(std::string_view text);

// Without spaces. Bytes that are no UTF-8 become U+FFFD.
std::string text_of(const Json& json);

// "string", "number", "list", …: as messages call the type of a value.
std::string_view type_name_of(const Json& json);

}  // namespace cdom::api
