#include "sandbox/apiserver/discovery/openapi.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/discovery/openapi_v2.h"
#include "sandbox/apiserver/kinds/custom_version.h"
#include "sandbox/apiserver/rest/unknown_fields.h"
#include "sandbox/schema/object_types.h"

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

json text_field(const char* description) {
  return {{"type", "string"}, {"description", description}};
}

// What every object has. `schema` is that of a kind.
void add_common_fields(const Kind& kind, json& schema) {
  json& properties = schema["properties"];
  properties["apiVersion"] =
      text_field("APIVersion defines the versioned schema of this representation of an object.");
  properties["kind"] = text_field("Kind is the REST resource that this object represents.");
  if (!properties.contains("metadata") || properties["metadata"].size() <= 1) {
    properties["metadata"] = {{"type", "object"},
                              {"description",
                               "Standard object's metadata: name, namespace, "
                               "labels, annotations and what the server adds."}};
  }
  schema["x-kubernetes-group-version-kind"] = json::array({type_of(kind)});
}

std::string schema_name(const Kind& kind) {
  return cat(kind.group, ".", kind.version, ".", kind.kind);
}

void add_schema(const Kind& kind, json& schemas) {
  const schema::ObjectType* type = type_of_builtin(kind);
  std::string name = schema_name(kind);
  if (kind.is_custom()) {
    schemas[name] = *kind.custom->source;
  } else if (type != nullptr) {
    schema::builtin_types().describe(*type, schemas);
    name = type->name;
  } else {
    schemas[name] = {{"type", "object"},
                     {"description", "A built-in resource of this embedded API server."}};
  }
  add_common_fields(kind, schemas[name]);
}

// What kubectl up to 1.26 may know: see openapi_v2.h.
json custom_schemas(const Kinds& kinds) {
  json schemas = json::object();
  for (const KindRef& kind : kinds.all()) {
    if (kind->is_custom()) add_schema(*kind, schemas);
  }
  return schemas;
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
    add_schema(*kind, out["components"]["schemas"]);
  }
  return out;
}

}  // namespace

std::optional<http::Response> openapi(const Kinds& kinds, const std::string& path) {
  constexpr std::string_view kThree = "/openapi/v3";
  if (path == "/openapi/v2") {
    return document(openapi_v2_document(custom_schemas(kinds)),
                    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  }
  if (path == kThree) return document(root(kinds).dump());
  if (!path.starts_with(kThree)) return std::nullopt;
  json found = group_version(kinds, path.substr(kThree.size() + 1));
  if (found["paths"].empty()) return std::nullopt;
  return document(found.dump());
}

}  // namespace cdom::sandbox::server
