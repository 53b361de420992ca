#include "sandbox/apiserver/serving/body.h"

#include <nlohmann/json.hpp>

#include "compute_domain/api/codec.h"
#include "compute_domain/base/text.h"
#include "sandbox/apiserver/rest/object_path.h"
#include "sandbox/apiserver/serving/protobuf_body.h"
#include "sandbox/apiserver/serving/status.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

json parse_json(const std::string& text) {
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    throw StatusError(bad_request(cat("the body of the request is not JSON: ", error.what())));
  }
}

json parse_yaml(const std::string& text) {
  const auto objects = api::objects_in_yaml(text, "body");
  if (!objects) throw StatusError(bad_request(objects.error().message));
  if (objects->size() != 1) {
    throw StatusError(bad_request("the body of the request must hold exactly one object"));
  }
  return parse_json(objects->front());
}

// Go decodes into structs and fails on what does not fit; this is the part of that which the rest
// of this server relies upon.
void check_metadata_types(const json& metadata) {
  const auto refuse = [](std::string_view field, std::string_view type, const json& value) {
    throw StatusError(
        bad_request(cat("json: cannot unmarshal ", value.type_name(),
                        " into Go struct field ObjectMeta.metadata.", field, " of type ", type)));
  };
  for (const char* field : {"name", "generateName", "namespace", "uid", "resourceVersion"}) {
    const json& value = at_path(metadata, {field});
    if (!value.is_null() && !value.is_string()) refuse(field, "string", value);
  }
  for (const char* field : {"labels", "annotations"}) {
    const json& map = at_path(metadata, {field});
    if (map.is_null()) continue;
    if (!map.is_object()) refuse(field, "map[string]string", map);
    for (const json& value : map) {
      if (!value.is_string()) refuse(field, "string", value);
    }
  }
  for (const char* field : {"finalizers", "ownerReferences", "managedFields"}) {
    const json& list = at_path(metadata, {field});
    if (!list.is_null() && !list.is_array()) refuse(field, "list", list);
  }
}

// Null and absent are the same to Go's decoder: an entry of metadata that is null goes.
void drop_nulls(json& metadata) {
  for (auto it = metadata.begin(); it != metadata.end();) {
    it = it->is_null() ? metadata.erase(it) : std::next(it);
  }
}

}  // namespace

std::string content_type_of(const http::Request& request) {
  const auto found = request.headers.find("Content-Type");
  if (found == request.headers.end()) return "";
  return base::to_lower(base::trim(base::split(found->second, ';').front()));
}

json read_body(const http::Request& request) {
  if (request.body.empty()) return {};
  const std::string type = content_type_of(request);
  if (type.empty() || type == "application/json") return parse_json(request.body);
  if (type == "application/yaml") return parse_yaml(request.body);
  if (type == "application/vnd.kubernetes.protobuf") return read_protobuf_body(request.body);
  throw StatusError(unsupported_media_type(
      {"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"}));
}

json read_object(const Call& call) {
  json object = read_body(call.request);
  if (!object.is_object()) {
    throw StatusError(bad_request(cat("the body of the request must be a ", call.kind->kind)));
  }
  check_identity(call, object);
  return object;
}

void check_identity(const Call& call, json& object) {
  const Kind& kind = *call.kind;
  if (object.value("apiVersion", kind.api_version()) != kind.api_version() ||
      object.value("kind", kind.kind) != kind.kind) {
    throw StatusError(bad_request(cat(object.value("kind", ""), " in version \"",
                                      object.value("apiVersion", ""), "\" cannot be handled as a ",
                                      kind.kind, ": the path is for ", kind.api_version())));
  }
  object["apiVersion"] = kind.api_version();
  object["kind"] = kind.kind;
  if (!object.contains("metadata") || object["metadata"].is_null()) {
    object["metadata"] = json::object();
  }
  json& metadata = object["metadata"];
  if (!metadata.is_object()) throw StatusError(bad_request("metadata must be an object"));
  drop_nulls(metadata);
  check_metadata_types(metadata);

  if (!kind.namespaced) {
    metadata.erase("namespace");
  } else if (metadata.value("namespace", call.info.namespace_) != call.info.namespace_) {
    throw StatusError(
        bad_request("the namespace of the provided object does not match the namespace sent on "
                    "the request"));
  } else {
    metadata["namespace"] = call.info.namespace_;
  }
}

}  // namespace cdom::sandbox::server
