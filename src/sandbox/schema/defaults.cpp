#include <nlohmann/json.hpp>

#include "sandbox/schema/validate.h"

namespace cdom::sandbox::schema {

namespace {

using nlohmann::json;

void default_member(json& object, const std::string& name, const Schema& schema) {
  auto member = object.find(name);
  if (member != object.end() && member->is_null() && !schema.nullable) {
    object.erase(member);
    member = object.end();
  }
  if (member == object.end() && schema.default_value != nullptr) {
    member = object.emplace(name, *schema.default_value).first;
  }
  if (member != object.end()) apply_defaults(*member, schema);
}

}  // namespace

void apply_defaults(json& value, const Schema& schema) {
  if (value.is_array() && schema.items != nullptr) {
    for (json& item : value) apply_defaults(item, *schema.items);
  }
  if (!value.is_object()) return;
  for (const auto& [name, property] : schema.properties) default_member(value, name, property);
  if (schema.additional_properties == nullptr) return;
  for (auto& [name, member] : value.items()) {
    apply_defaults(member, *schema.additional_properties);
  }
}

}  // namespace cdom::sandbox::schema
