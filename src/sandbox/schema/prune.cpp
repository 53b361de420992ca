#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/schema/validate.h"

namespace cdom::sandbox::schema {

namespace {

using nlohmann::json;

// The fields that every resource has, whatever its schema says.
bool is_resource_field(std::string_view name) {
  return name == "apiVersion" || name == "kind" || name == "metadata";
}

void prune_value(json& value, const Schema& schema, bool is_resource, const std::string& path,
                 std::vector<std::string>& removed) {
  if (value.is_array() && schema.items != nullptr) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      prune_value(value[i], *schema.items, schema.items->embedded_resource,
                  base::cat(path, "[", i, "]"), removed);
    }
  }
  if (!value.is_object()) return;
  for (auto member = value.begin(); member != value.end();) {
    const std::string& name = member.key();
    const std::string member_path = path.empty() ? name : base::cat(path, ".", name);
    const auto property = schema.properties.find(name);
    const bool is_kept = is_resource && is_resource_field(name);
    if (!is_kept && property != schema.properties.end()) {
      prune_value(*member, property->second, property->second.embedded_resource, member_path,
                  removed);
      ++member;
    } else if (!is_kept && schema.additional_properties != nullptr) {
      prune_value(*member, *schema.additional_properties, false, member_path, removed);
      ++member;
    } else if (is_kept || schema.preserve_unknown_fields) {
      ++member;
    } else {
      removed.push_back(member_path);
      member = value.erase(member);
    }
  }
}

}  // namespace

std::vector<std::string> prune(json& object, const Schema& schema) {
  std::vector<std::string> removed;
  prune_value(object, schema, true, "", removed);
  return removed;
}

}  // namespace cdom::sandbox::schema
