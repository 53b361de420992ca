#include "sandbox/schema/correlation.h"

#include <nlohmann/json.hpp>

namespace cdom::sandbox::schema {

using nlohmann::json;

const json* old_member(const json* old_object, const std::string& name) {
  if (old_object == nullptr || !old_object->is_object()) return nullptr;
  const auto member = old_object->find(name);
  return member == old_object->end() ? nullptr : &*member;
}

json keys_of(const json& item, const Schema& list) {
  json keys = json::object();
  if (!item.is_object()) return keys;
  for (const std::string& key : list.list_map_keys) {
    if (const auto member = item.find(key); member != item.end()) keys[key] = *member;
  }
  return keys;
}

OldItems::OldItems(const json* old_list, const Schema& list) : list_(list) {
  if (old_list == nullptr || !old_list->is_array() || list.list_type != ListType::Map) return;
  for (const json& item : *old_list) by_keys_.try_emplace(keys_of(item, list).dump(), &item);
}

const json* OldItems::of(const json& item) const {
  if (by_keys_.empty()) return nullptr;
  const auto found = by_keys_.find(keys_of(item, list_).dump());
  return found == by_keys_.end() ? nullptr : found->second;
}

}  // namespace cdom::sandbox::schema
