#include "sandbox/apiserver/rest/object_path.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace cdom::sandbox::server {

const json& at_path(const json& object, std::initializer_list<std::string_view> path) {
  static const json kNull;
  const json* here = &object;
  for (const std::string_view field : path) {
    if (!here->is_object()) return kNull;
    const auto found = here->find(field);
    if (found == here->end()) return kNull;
    here = &*found;
  }
  return *here;
}

const std::string& text_at(const json& object, std::initializer_list<std::string_view> path) {
  static const std::string kNone;
  const json& value = at_path(object, path);
  return value.is_string() ? value.get_ref<const std::string&>() : kNone;
}

bool list_has(const json& list, std::string_view value) {
  return list.is_array() &&
         std::ranges::any_of(list, [&](const json& entry) { return entry == value; });
}

const std::string& name_of(const json& object) { return text_at(object, {"metadata", "name"}); }

const std::string& namespace_of(const json& object) {
  return text_at(object, {"metadata", "namespace"});
}

const std::string& uid_of(const json& object) { return text_at(object, {"metadata", "uid"}); }

bool is_being_deleted(const json& object) {
  return !text_at(object, {"metadata", "deletionTimestamp"}).empty();
}

bool has_finalizers(const json& object) {
  const json& finalizers = at_path(object, {"metadata", "finalizers"});
  return finalizers.is_array() && !finalizers.empty();
}

}  // namespace cdom::sandbox::server
