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
  text_ = "{";
  std::size_t cut = 0;
  for (auto member = value.begin(); member != value.end(); ++member) {
    const std::size_t at = text_.size();
    text_ += json(member.key()).dump();
    text_ += ':';
    text_ += member->dump();
    text_ += ',';
    const bool is_of_type = member.key() == "apiVersion" || member.key() == "kind";
    if (is_of_type) cuts_.at(cut++) = {at, text_.size() - at};
  }
  text_.back() = '}';  // members stand in the order of their names: "metadata" comes after both
  value_ = std::make_unique<const json>(std::move(value));
}

StoredObject::~StoredObject() = default;

void StoredObject::append_without_type(std::string& out) const {
  std::size_t at = 0;
  for (const Cut& cut : cuts_) {
    if (cut.size == 0) continue;  // it has no such member
    out.append(text_, at, cut.at - at);
    at = cut.at + cut.size;
  }
  out.append(text_, at);
}

}  // namespace cdom::sandbox::server
