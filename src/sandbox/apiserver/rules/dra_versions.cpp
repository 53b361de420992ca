#include "sandbox/apiserver/rules/dra_versions.h"

#include <array>
#include <nlohmann/json.hpp>

namespace cdom::sandbox::server {

namespace {

constexpr std::array kRequestFields = {"deviceClassName", "selectors",   "allocationMode", "count",
                                       "adminAccess",     "tolerations", "capacity"};

// The value at a path of object keys, or null when there is none.
json* at(json& object, std::initializer_list<const char*> path) {
  json* here = &object;
  for (const char* key : path) {
    if (!here->is_object()) return nullptr;
    const auto found = here->find(key);
    if (found == here->end()) return nullptr;
    here = &*found;
  }
  return here;
}

json* requests_of(const Kind& kind, json& object) {
  if (kind.kind == "ResourceClaim") return at(object, {"spec", "devices", "requests"});
  if (kind.kind == "ResourceClaimTemplate") {
    return at(object, {"spec", "spec", "devices", "requests"});
  }
  return nullptr;
}

void flatten(json& request) {
  const auto exactly = request.find("exactly");
  if (exactly == request.end()) return;
  json fields = std::move(*exactly);
  request.erase(exactly);
  if (fields.is_object()) request.update(fields);
}

void nest(json& request) {
  if (!request.is_object() || request.contains("firstAvailable")) return;
  json exactly = json::object();
  for (const char* field : kRequestFields) {
    const auto found = request.find(field);
    if (found == request.end()) continue;
    exactly[field] = std::move(*found);
    request.erase(field);
  }
  if (!exactly.empty()) request["exactly"] = std::move(exactly);
}

void wrap_device(json& device) {
  json basic = json::object();
  for (auto& [key, value] : device.items()) {
    if (key != "name") basic[key] = std::move(value);
  }
  device = {{"name", device.value("name", "")}, {"basic", std::move(basic)}};
}

void unwrap_device(json& device) {
  const auto basic = device.find("basic");
  if (basic == device.end()) return;
  json fields = std::move(*basic);
  device.erase(basic);
  if (fields.is_object()) device.update(fields);
}

template <class Change>
void change_each(json* list, Change change) {
  if (list == nullptr || !list->is_array()) return;
  for (json& entry : *list) {
    if (entry.is_object()) change(entry);
  }
}

}  // namespace

void dra_from_v1(const Kind& kind, json& object) {
  if (kind.version != "v1beta1") return;
  change_each(requests_of(kind, object), flatten);
  if (kind.kind == "ResourceSlice") change_each(at(object, {"spec", "devices"}), wrap_device);
}

void dra_to_v1(const Kind& kind, json& object) {
  if (kind.version != "v1beta1") return;
  change_each(requests_of(kind, object), nest);
  if (kind.kind != "ResourceSlice") return;
  change_each(at(object, {"spec", "devices"}), unwrap_device);
  // Plain values there: empty means absent.
  if (json* name = at(object, {"spec", "nodeName"});
      name != nullptr && name->is_string() && name->get_ref<const std::string&>().empty()) {
    object["spec"].erase("nodeName");
  }
  if (json* all = at(object, {"spec", "allNodes"}); all != nullptr && *all == false) {
    object["spec"].erase("allNodes");
  }
}

}  // namespace cdom::sandbox::server
