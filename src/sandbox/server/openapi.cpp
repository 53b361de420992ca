#include "sandbox/server/openapi.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "compute_domain/base/text.h"
#include "sandbox/server/custom_version.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

http::Response document(std::string body, const char* type = "application/json") {
  return {.status = 200, .headers = {{"Content-Type", type}}, .body = std::move(body)};
}

// "api/v1", "apis/resource.nvidia.com/v1beta1": as the root document names group versions.
std::string name_of_version(const Kind& kind) {
  return cat(kind.group.empty() ? "api/" : "apis/", kind.api_version());
}

json root(const Kinds& kinds) {
  json paths = json::object();
  for (const KindRef& kind : kinds.all()) {
    const std::string name = name_of_version(*kind);
    paths[name] = {{"serverRelativeURL", cat("/openapi/v3/", name)}};
  }
  return {{"paths", std::move(paths)}};
}

std::string collection_path(const Kind& kind) {
  return cat("/", name_of_version(kind), kind.namespaced ? "/namespaces/{namespace}/" : "/",
             kind.resource);
}

json type_of(const Kind& kind) {
  return {{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}};
}

json operation(const Kind& kind, const char* action, bool writes) {
  json out = {{"x-kubernetes-group-version-kind", type_of(kind)},
              {"x-kubernetes-action", action},
              {"responses", json::object()}};
  if (!writes) return out;
  // By these kubectl knows that it may leave validation to the server and apply on its side.
  for (const char* name : {"dryRun", "fieldManager", "fieldValidation", "force"}) {
    out["parameters"].push_back({{"name", name}, {"in", "query"}});
  }
  return out;
}

const char* description_of(const std::string& kind) {
  static const std::map<std::string, const char*> kTexts = {
      {"ConfigMap", "ConfigMap holds configuration data for pods to consume."},
      {"DeviceClass",
       "DeviceClass is a preset that ResourceClaims refer to by name: selectors "
       "and configuration of devices."},
      {"Event", "Event is a report of an event somewhere in the cluster."},
      {"Job", "Job represents the configuration of a single job."},
      {"Lease", "Lease defines a lease concept."},
      {"Namespace", "Namespace provides a scope for Names."},
      {"Node", "Node is a worker node in Kubernetes."},
      {"Pod", "Pod is a collection of containers that can run on a host."},
      {"ResourceClaim",
       "ResourceClaim describes a request for access to devices, for use by "
       "workloads."},
      {"ResourceClaimTemplate",
       "ResourceClaimTemplate is used to produce ResourceClaim objects, "
       "one for each pod that names it."},
      {"ResourceSlice", "ResourceSlice represents devices that one driver offers in one pool."},
  };
  const auto found = kTexts.find(kind);
  return found == kTexts.end() ? "A built-in resource of this embedded API server." : found->second;
}

json text_field(const char* description) {
  return {{"type", "string"}, {"description", description}};
}

json builtin_schema(const Kind& kind) {
  json out = {{"type", "object"}, {"description", description_of(kind.kind)}};
  const std::set<std::string> without_spec = {"ConfigMap", "Secret", "Event", "ServiceAccount"};
  if (!without_spec.contains(kind.kind)) {
    out["properties"]["spec"] = {{"type", "object"}, {"description", "The desired state."}};
  }
  if (kind.has_subresource("status")) {
    out["properties"]["status"] = {{"type", "object"}, {"description", "The observed state."}};
  }
  return out;
}

json schema_of(const Kind& kind) {
  json out = kind.is_custom() ? *kind.custom->source : builtin_schema(kind);
  json& properties = out["properties"];
  properties["apiVersion"] =
      text_field("APIVersion defines the versioned schema of this representation of an object.");
  properties["kind"] = text_field("Kind is the REST resource that this object represents.");
  if (!properties.contains("metadata") || properties["metadata"].size() <= 1) {
    properties["metadata"] = {{"type", "object"},
                              {"description",
                               "Standard object's metadata: name, namespace, "
                               "labels, annotations and what the server adds."}};
  }
  out["x-kubernetes-group-version-kind"] = json::array({type_of(kind)});
  return out;
}

json group_version(const Kinds& kinds, const std::string& name) {
  json out = {{"openapi", "3.0.0"},
              {"info", {{"title", "Kubernetes"}, {"version", "sandbox"}}},
              {"paths", json::object()},
              {"components", {{"schemas", json::object()}}}};
  for (const KindRef& kind : kinds.all()) {
    if (name_of_version(*kind) != name) continue;
    const std::string collection = collection_path(*kind);
    out["paths"][collection] = {{"get", operation(*kind, "list", false)},
                                {"post", operation(*kind, "post", true)}};
    out["paths"][collection + "/{name}"] = {{"get", operation(*kind, "get", false)},
                                            {"put", operation(*kind, "put", true)},
                                            {"patch", operation(*kind, "patch", true)}};
    out["components"]["schemas"][cat(kind->group, ".", kind->version, ".", kind->kind)] =
        schema_of(*kind);
  }
  return out;
}

}  // namespace

std::optional<http::Response> openapi(const Kinds& kinds, const std::string& path) {
  constexpr std::string_view kThree = "/openapi/v3";
  if (path == "/openapi/v2") {
    // An empty document: kubectl up to 1.26 wants one before it applies, and then leaves kinds that
    // it does not name alone. Field 1 of the protobuf Document is the swagger version.
    return document(
        "\x0a\x03"
        "2.0",
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  }
  if (path == kThree) return document(root(kinds).dump());
  if (!path.starts_with(kThree)) return std::nullopt;
  json found = group_version(kinds, path.substr(kThree.size() + 1));
  if (found["paths"].empty()) return std::nullopt;
  return document(found.dump());
}

}  // namespace cdom::sandbox::server
