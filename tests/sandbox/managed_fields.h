// What a test asks of metadata.managedFields.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace cdom::sandbox {

// The `fieldsV1` of the manager's first entry; null without one.
inline nlohmann::json fields_owned_by(const nlohmann::json& object, std::string_view manager) {
  for (const auto& entry : object["metadata"].value("managedFields", nlohmann::json::array())) {
    if (entry["manager"] == manager) return entry["fieldsV1"];
  }
  return nullptr;
}

}  // namespace cdom::sandbox
