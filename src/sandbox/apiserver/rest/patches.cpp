// patch_object(): the four patch types, each on the object in the version of the path.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/api/codec.h"
#include "compute_domain/base/text.h"
#include "sandbox/apiserver/kinds/versions.h"
#include "sandbox/apiserver/rest/field_tracking.h"
#include "sandbox/apiserver/rest/metadata.h"
#include "sandbox/apiserver/rest/object_path.h"
#include "sandbox/apiserver/rest/strategy.h"
#include "sandbox/apiserver/rest/unknown_fields.h"
#include "sandbox/apiserver/rest/writes.h"
#include "sandbox/apiserver/serving/body.h"
#include "sandbox/apiserver/serving/status.h"
#include "sandbox/patch/patch.h"
#include "sandbox/patch/server_side_apply.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

constexpr std::size_t kMostOperations = 10'000;

json patch_body(const http::Request& request, bool may_be_yaml) {
  json body = json::parse(request.body, nullptr, false);
  if (body.is_discarded() && may_be_yaml) {
    const auto objects = api::objects_in_yaml(request.body, "patch");
    if (objects && objects->size() == 1) body = json::parse(objects->front(), nullptr, false);
  }
  if (body.is_discarded()) {
    throw StatusError(bad_request("error decoding patch: the body of the request is not JSON"));
  }
  return body;
}

[[noreturn]] void refuse_patch(const base::Error& error) {
  throw StatusError({.code = 422,
                     .reason = "Invalid",
                     .message = cat("the server rejected our request due to an error in our "
                                    "request: ",
                                    error.message)});
}

void apply_operations(json& object, const json& operations) {
  if (operations.is_array() && operations.size() > kMostOperations) {
    throw StatusError({.code = 413,
                       .reason = "RequestEntityTooLarge",
                       .message = cat("The allowed maximum operations in a JSON patch is ",
                                      kMostOperations, ", got ", operations.size())});
  }
  const auto applied = patch::apply_json_patch(object, operations);
  if (!applied) refuse_patch(applied.error());
}

// The object that a patch other than apply makes of `shown`, both in the version of the path.
json patched(const Call& call, json shown) {
  const std::string type = content_type_of(call.request);
  if (type == "application/json-patch+json") {
    apply_operations(shown, patch_body(call.request, false));
    return shown;
  }
  const json body = patch_body(call.request, false);
  if (!body.is_object()) throw StatusError(bad_request("the patch must be a JSON object"));
  if (type == "application/merge-patch+json") {
    patch::apply_merge_patch(shown, body);
  } else {
    const auto applied =
        patch::apply_strategic_merge_patch(shown, body, merge_rules_of(*call.kind));
    if (!applied) refuse_patch(applied.error());
  }
  return shown;
}

void check_patch_type(const Call& call) {
  const std::string type = content_type_of(call.request);
  std::vector<std::string> accepted = {"application/json-patch+json",
                                       "application/merge-patch+json",
                                       "application/apply-patch+yaml"};
  if (!call.kind->is_custom()) accepted.push_back("application/strategic-merge-patch+json");
  if (std::ranges::find(accepted, type) == accepted.end()) {
    throw StatusError(unsupported_media_type(accepted));
  }
  if (type != "application/apply-patch+yaml" && call.info.query.contains("force")) {
    throw StatusError(invalid_options(
        "PatchOptions", {forbidden_field("force", "may not be specified for non-apply patch")}));
  }
}

[[noreturn]] void refuse_applied(const Call& call, const std::string& what) {
  throw StatusError({.code = 500,
                     .reason = "",
                     .message = cat("failed to create typed patch object (", call.info.namespace_,
                                    "/", call.info.name, "; ", call.kind->api_version(),
                                    ", Kind=", call.kind->kind, "): ", what)});
}

// Of custom resources the merge rules say it.
void refuse_unknown_builtin_fields(const Call& call, json config) {
  if (call.kind->is_custom()) return;
  const std::vector<std::string> unknown = drop_unknown_fields(*call.kind, config);
  if (!unknown.empty()) {
    refuse_applied(call, cat(".", unknown.front(), ": field not declared in schema"));
  }
}

http::Response apply_object(Call& call) {
  if (call.info.option("fieldManager").empty()) {
    throw StatusError(invalid_options(
        "PatchOptions", {required_field("fieldManager", "is required for apply patch")}));
  }
  json config = patch_body(call.request, true);
  if (!config.is_object() || !config.contains("apiVersion") || !config.contains("kind")) {
    throw StatusError(bad_request("an applied object must have apiVersion and kind"));
  }
  check_identity(call, config);
  if (!at_path(config, {"metadata", "managedFields"}).is_null()) {
    throw StatusError(bad_request("metadata.managedFields must be nil"));
  }
  if (const std::string& name = name_of(config); !name.empty() && name != call.info.name) {
    throw StatusError(
        bad_request(cat("the name of the object (", name, ") does not match the name on the URL (",
                        call.info.name, ")")));
  }
  refuse_unknown_builtin_fields(call, config);
  config["metadata"]["name"] = call.info.name;

  const Object old_object = call.state.storage.get(call.kind->bucket, call.key());
  if (!old_object && !call.info.subresource.empty()) {
    throw StatusError(not_found(*call.kind, call.info.name));
  }
  if (const std::string& uid = uid_of(config);
      !uid.empty() && (!old_object || uid != uid_of(old_object->value()))) {
    throw StatusError(conflict(*call.kind, call.info.name,
                               cat("uid mismatch: the provided object specified uid ", uid,
                                   ", and no existing object was found")));
  }
  if (const std::string& version = text_at(config, {"metadata", "resourceVersion"});
      old_object && !version.empty() &&
      version != text_at(old_object->value(), {"metadata", "resourceVersion"})) {
    throw StatusError(stale(*call.kind, call.info.name));
  }

  json live = old_object ? from_storage(*call.kind, old_object->value()) : json::object();
  const auto conflicts =
      patch::apply(live, std::move(config),
                   {.name = call.field_manager,
                    .api_version = call.kind->api_version(),
                    .subresource = call.info.subresource,
                    .time = base::to_rfc3339(call.state.clock.now())},
                   call.info.is_set("force"), reset_fields(call), merge_rules_of(*call.kind));
  if (!conflicts) refuse_applied(call, conflicts.error().message);
  if (!conflicts->empty()) {
    Status status{
        .code = 409, .reason = "Conflict", .message = patch::conflict_message(*conflicts)};
    status.causes = *conflicts;
    throw StatusError(std::move(status));
  }
  check_identity(call, live);
  json next = to_storage(*call.kind, std::move(live));
  if (!old_object) return answer(call, 201, *finish_create(call, std::move(next)));
  return answer(call, 200, *finish_update(call, old_object, std::move(next)));
}

}  // namespace

http::Response patch_object(Call& call) {
  check_patch_type(call);
  if (content_type_of(call.request) == "application/apply-patch+yaml") return apply_object(call);

  const Object old_object = call.state.storage.get(call.kind->bucket, call.key());
  if (!old_object) throw StatusError(not_found(*call.kind, call.info.name));
  json next = patched(call, from_storage(*call.kind, old_object->value()));
  if (!next.is_object()) throw StatusError(bad_request("the patch leaves no object"));
  check_identity(call, next);
  tell_unknown_fields(call, next);
  // A resource version that the patch set is a precondition; without one it applies to what is.
  const std::string& version = text_at(next, {"metadata", "resourceVersion"});
  if (!version.empty() &&
      version != text_at(old_object->value(), {"metadata", "resourceVersion"})) {
    throw StatusError(stale(*call.kind, call.info.name));
  }
  return answer(call, 200,
                *finish_update(call, old_object, to_storage(*call.kind, std::move(next))));
}

}  // namespace cdom::sandbox::server
