#include "sandbox/cluster/objects.h"

#include <charconv>
#include <nlohmann/json.hpp>

namespace cdom::sandbox {
namespace {

const json* member_of(const json& whole, std::string_view name) {
  if (whole.is_object()) {
    const auto found = whole.find(name);
    return found == whole.end() ? nullptr : &*found;
  }
  std::size_t index = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, index);
  const bool is_index = whole.is_array() && error == std::errc() && stop == end;
  return is_index && index < whole.size() ? &whole[index] : nullptr;
}

std::string entry_of(const json& map, const std::string& name) {
  const auto found = map.is_object() ? map.find(name) : map.end();
  return found != map.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

const json& at(const json& object, std::string_view path) {
  static const json kNull;
  const json* place = &object;
  while (place != nullptr && !path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(name.size());
    place = member_of(*place, name);
  }
  return place == nullptr ? kNull : *place;
}

std::string text_at(const json& object, std::string_view path) {
  const json& value = at(object, path);
  return value.is_string() ? value.get<std::string>() : std::string();
}

api::ObjectName key_of(const json& object) {
  return {text_at(object, "/metadata/namespace"), text_at(object, "/metadata/name")};
}

std::string uid_of(const json& object) { return text_at(object, "/metadata/uid"); }

std::string annotation_of(const json& object, const std::string& name) {
  return entry_of(at(object, "/metadata/annotations"), name);
}

std::string label_of(const json& object, const std::string& name) {
  return entry_of(at(object, "/metadata/labels"), name);
}

bool is_deleting(const json& object) {
  return !text_at(object, "/metadata/deletionTimestamp").empty();
}

api::ObjectReference reference_to(const api::Kind& kind, const json& object) {
  const api::ObjectName name = key_of(object);
  return {api_version_of(kind), std::string(kind.kind), name.ns, name.name, uid_of(object)};
}

}  // namespace cdom::sandbox
