// patch_object(): JSON patch and merge patch, on the object in the version of the path.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/server/body.h"
#include "sandbox/server/metadata.h"
#include "sandbox/server/object_path.h"
#include "sandbox/server/status.h"
#include "sandbox/server/versions.h"
#include "sandbox/server/writes.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

constexpr std::size_t kMostOperations = 10'000;

json patch_body(const http::Request& request) {
  json body = json::parse(request.body, nullptr, false);
  if (body.is_discarded()) {
    throw StatusError(bad_request("error decoding patch: the body of the request is not JSON"));
  }
  return body;
}

[[noreturn]] void refuse_patch(std::string_view why) {
  throw StatusError({.code = 422,
                     .reason = "Invalid",
                     .message = cat("the server rejected our request due to an error in our "
                                    "request: ",
                                    why)});
}

void apply_operations(json& object, const json& operations) {
  if (operations.is_array() && operations.size() > kMostOperations) {
    throw StatusError({.code = 413,
                       .reason = "RequestEntityTooLarge",
                       .message = cat("The allowed maximum operations in a JSON patch is ",
                                      kMostOperations, ", got ", operations.size())});
  }
  try {
    object.patch_inplace(operations);
  } catch (const json::exception& error) {
    refuse_patch(error.what());
  }
}

// The object that a patch other than apply makes of `shown`, both in the version of the path.
json patched(const Call& call, json shown) {
  const std::string type = content_type_of(call.request);
  if (type == "application/json-patch+json") {
    apply_operations(shown, patch_body(call.request));
    return shown;
  }
  const json body = patch_body(call.request);
  if (!body.is_object()) throw StatusError(bad_request("the patch must be a JSON object"));
  shown.merge_patch(body);
  return shown;
}

void check_patch_type(const Call& call) {
  const std::string type = content_type_of(call.request);
  const std::vector<std::string> accepted = {"application/json-patch+json",
                                             "application/merge-patch+json"};
  if (std::ranges::find(accepted, type) == accepted.end()) {
    throw StatusError(unsupported_media_type(accepted));
  }
  if (type != "application/apply-patch+yaml" && call.info.query.contains("force")) {
    throw StatusError(invalid_options(
        "PatchOptions", {forbidden_field("force", "may not be specified for non-apply patch")}));
  }
}

}  // namespace

http::Response patch_object(Call& call) {
  check_patch_type(call);
  const Object old_object = call.state.storage.get(call.kind->bucket, call.key());
  if (!old_object) throw StatusError(not_found(*call.kind, call.info.name));
  json next = patched(call, from_storage(*call.kind, old_object->value()));
  if (!next.is_object()) throw StatusError(bad_request("the patch leaves no object"));
  check_identity(call, next);
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
