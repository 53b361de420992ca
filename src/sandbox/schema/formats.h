// The string and number formats that a schema may name.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace cdom::sandbox::schema {

// Formats that are not known are refused when the schema is parsed.
bool is_known_format(std::string_view format);

// Whether `value` has the format; values of a type that the format does not concern have it.
bool has_format(const nlohmann::json& value, std::string_view format);

}  // namespace cdom::sandbox::schema
