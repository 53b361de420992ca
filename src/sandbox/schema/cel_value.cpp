#include "sandbox/schema/cel_value.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"

namespace cdom::sandbox::schema {

namespace {

using nlohmann::json;

// Kubernetes documentation, "Validation rules": escaping of property names.
std::string escaped(const std::string& name) {
  constexpr std::string_view kReserved[] = {
      "true",     "false",   "null",      "in",     "as",       "break",  "const",
      "continue", "else",    "for",       "if",     "function", "import", "let",
      "loop",     "package", "namespace", "return", "var",      "void",   "while"};
  if (std::ranges::find(kReserved, name) != std::end(kReserved)) return "__" + name + "__";
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.compare(i, 2, "__") == 0) {
      out += "__underscores__";
      ++i;
    } else if (name[i] == '.') {
      out += "__dot__";
    } else if (name[i] == '-') {
      out += "__dash__";
    } else if (name[i] == '/') {
      out += "__slash__";
    } else {
      out += name[i];
    }
  }
  return out;
}

void add_resource_fields(const json& resource, cel::Map& map) {
  for (const char* name : {"apiVersion", "kind"}) {
    if (resource.contains(name)) map.entries.emplace(name, cel::Value::from_json(resource[name]));
  }
  if (!resource.contains("metadata")) return;
  cel::Map metadata;
  for (const char* name : {"name", "generateName"}) {
    const json& from = resource["metadata"];
    if (from.contains(name)) metadata.entries.emplace(name, cel::Value::from_json(from[name]));
  }
  map.entries.emplace("metadata", cel::Value(std::move(metadata)));
}

cel::Value object_value(const json& object, const Schema& schema, bool is_resource) {
  cel::Map map;
  if (is_resource) add_resource_fields(object, map);
  for (const auto& [name, member] : object.items()) {
    const auto property = schema.properties.find(name);
    if (property != schema.properties.end()) {
      map.entries.emplace(escaped(name),
                          cel_value(member, property->second, property->second.embedded_resource));
    } else if (schema.additional_properties != nullptr) {
      map.entries.emplace(name, cel_value(member, *schema.additional_properties, false));
    }
  }
  return cel::Value(std::move(map));
}

}  // namespace

cel::Value cel_value(const json& value, const Schema& schema, bool is_resource) {
  if (value.is_object() && schema.type == Type::Object) {
    return object_value(value, schema, is_resource);
  }
  if (value.is_array() && schema.items != nullptr) {
    cel::List list;
    for (const json& item : value) {
      list.push_back(cel_value(item, *schema.items, schema.items->embedded_resource));
    }
    return cel::Value(std::move(list));
  }
  if (value.is_number() && schema.type == Type::Number) return cel::Value(value.get<double>());
  return cel::Value::from_json(value);
}

}  // namespace cdom::sandbox::schema
