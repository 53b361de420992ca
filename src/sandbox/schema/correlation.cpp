#include "sandbox/schema/correlation.h"

#include <algorithm>
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

const json* old_item(const json* old_list, const json& item, const Schema& list) {
  if (old_list == nullptr || !old_list->is_array() || list.list_type != ListType::Map) {
    return nullptr;
  }
  const json keys = keys_of(item, list);
  const auto found = std::ranges::find_if(
      *old_list, [&](const json& candidate) { return keys_of(candidate, list) == keys; });
  return found == old_list->end() ? nullptr : &*found;
}

}  // namespace cdom::sandbox::schema
