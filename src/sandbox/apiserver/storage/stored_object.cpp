#include "sandbox/apiserver/storage/stored_object.h"

#include <nlohmann/json.hpp>

namespace cdom::sandbox::server {

StoredObject::StoredObject(json value, std::uint64_t resource_version)
    : resource_version_(resource_version) {
  if (resource_version == 0) {
    value["metadata"].erase("resourceVersion");
  } else {
    value["metadata"]["resourceVersion"] = std::to_string(resource_version);
  }
  text_ = value.dump();
  value_ = std::make_unique<const json>(std::move(value));
}

StoredObject::~StoredObject() = default;

const std::string& StoredObject::text_without_type() const {
  if (text_without_type_.empty()) {
    json copy = *value_;
    copy.erase("apiVersion");
    copy.erase("kind");
    text_without_type_ = copy.dump();
  }
  return text_without_type_;
}

}  // namespace cdom::sandbox::server
