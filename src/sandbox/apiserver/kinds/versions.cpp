#include "sandbox/apiserver/kinds/versions.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "sandbox/apiserver/rules/dra_versions.h"

namespace cdom::sandbox::server {

namespace {

// Field names of one event in core/v1 and in events.k8s.io/v1.
constexpr std::array<std::pair<const char*, const char*>, 7> kEventFields = {{
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"reportingComponent", "reportingController"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
}};

void rename(json& object, const char* from, const char* to) {
  const auto found = object.find(from);
  if (found == object.end()) return;
  json value = std::move(*found);
  object.erase(found);
  object[to] = std::move(value);
}

}  // namespace

bool is_stored_form(const Kind& kind) {
  return kind.version == kind.storage_version && kind.group != "events.k8s.io";
}

json from_storage(const Kind& kind, const json& stored) {
  json object = stored;
  if (is_stored_form(kind)) return object;
  if (kind.group == "events.k8s.io") {
    for (const auto& [core, events] : kEventFields) rename(object, core, events);
  } else if (kind.group == "resource.k8s.io") {
    dra_from_v1(kind, object);
  }
  object["apiVersion"] = kind.api_version();
  return object;
}

json to_storage(const Kind& kind, json object) {
  if (is_stored_form(kind)) return object;
  if (kind.group == "events.k8s.io") {
    for (const auto& [core, events] : kEventFields) rename(object, events, core);
    object["apiVersion"] = kind.storage_version;
    return object;
  }
  if (kind.group == "resource.k8s.io") dra_to_v1(kind, object);
  object["apiVersion"] = kind.group + "/" + kind.storage_version;
  return object;
}

}  // namespace cdom::sandbox::server
