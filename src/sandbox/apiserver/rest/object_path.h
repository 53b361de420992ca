// Reading inside JSON objects without caring which part is missing. Pure; for sources that include
// <nlohmann/json.hpp>.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

// The value at a path of field names, or null (the JSON value) when there is none.
const json& at_path(const json& object, std::initializer_list<std::string_view> path);
// The text there, "" when there is none.
const std::string& text_at(const json& object, std::initializer_list<std::string_view> path);
// Whether that array of texts has `value`.
bool list_has(const json& list, std::string_view value);

// metadata.name and so on; "" when absent.
const std::string& name_of(const json& object);
const std::string& namespace_of(const json& object);
const std::string& uid_of(const json& object);
bool is_being_deleted(const json& object);
bool has_finalizers(const json& object);

}  // namespace cdom::sandbox::server
