#include "resource_versions.h"

#include <initializer_list>
#include <nlohmann/json.hpp>

namespace cdom::api {

namespace {

// The list at `pointer`, or nullptr.
Json* list_at(Json& object, const Json::json_pointer& pointer) {
  if (!object.is_object() || !object.contains(pointer)) return nullptr;
  Json& list = object[pointer];
  return list.is_array() ? &list : nullptr;
}

// Moves every member but the name into the member `below`.
void nest(Json& item, const char* below) {
  if (!item.is_object() || item.contains(below)) return;
  Json inner = std::move(item);
  item = Json::object();
  if (const auto name = inner.find("name"); name != inner.end()) {
    item["name"] = std::move(*name);
    inner.erase(name);
  }
  if (!inner.empty()) item[below] = std::move(inner);
}

// The reverse.
void lift(Json& item, const char* from) {
  if (!item.is_object() || !item.contains(from) || !item[from].is_object()) return;
  const Json inner = std::move(item[from]);
  item.erase(from);
  item.update(inner);
}

using Change = void (*)(Json& item, const char* member);

void change_requests(Json& object, const char* pointer, Change change) {
  Json* requests = list_at(object, Json::json_pointer(pointer));
  if (requests == nullptr) return;
  for (Json& request : *requests) {
    if (!request.is_object() || !request.contains("firstAvailable")) change(request, "exactly");
  }
}

void change_devices(Json& object, Change change) {
  Json* devices = list_at(object, Json::json_pointer("/spec/devices"));
  if (devices == nullptr) return;
  for (Json& device : *devices) change(device, "basic");
}

void change_shapes(const Kind& kind, Json& object, Change requests, Change devices) {
  if (kind.kind == "ResourceClaim") {
    change_requests(object, "/spec/devices/requests", requests);
  } else if (kind.kind == "ResourceClaimTemplate") {
    change_requests(object, "/spec/spec/devices/requests", requests);
  } else if (kind.kind == "ResourceSlice") {
    change_devices(object, devices);
  }
}

// The elements of a request's or device's list, below its members `path`.
Wanted& wanted_below(Wanted& object, std::initializer_list<const char*> path) {
  Wanted* at = &object;
  for (const char* name : path) at = &at->members[name];
  return *at;
}

void want_lifted(Wanted& request) {
  const Wanted exactly = request.members["exactly"];
  request.add(exactly);
}

}  // namespace

void want_older_shapes(const Kind& kind, Wanted& object) {
  if (kind.kind == "ResourceClaim") {
    want_lifted(wanted_below(object, {"spec", "devices", "requests"}));
  } else if (kind.kind == "ResourceClaimTemplate") {
    want_lifted(wanted_below(object, {"spec", "spec", "devices", "requests"}));
  } else if (kind.kind == "ResourceSlice") {
    Wanted& device = wanted_below(object, {"spec", "devices"});
    const Wanted basic = device;
    device.members["basic"] = basic;
  }
}

bool has_older_shapes(const Kind& kind, std::string_view version) {
  return version == "v1beta1" && kind.group == "resource.k8s.io";
}

void to_v1_shapes(const Kind& kind, std::string_view version, Json& object) {
  if (has_older_shapes(kind, version)) change_shapes(kind, object, nest, lift);
}

void from_v1_shapes(const Kind& kind, std::string_view version, Json& object) {
  if (has_older_shapes(kind, version)) change_shapes(kind, object, lift, nest);
}

}  // namespace cdom::api
