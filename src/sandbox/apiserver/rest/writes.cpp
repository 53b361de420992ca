#include "sandbox/apiserver/rest/writes.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/kinds/versions.h"
#include "sandbox/apiserver/printing/representation.h"
#include "sandbox/apiserver/rest/deletes.h"
#include "sandbox/apiserver/rest/field_tracking.h"
#include "sandbox/apiserver/rest/metadata.h"
#include "sandbox/apiserver/rest/object_path.h"
#include "sandbox/apiserver/rest/strategy.h"
#include "sandbox/apiserver/rest/unknown_fields.h"
#include "sandbox/apiserver/rules/admission_steps.h"
#include "sandbox/apiserver/serving/body.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

constexpr int kNameAttempts = 8;

void choose_name(Call& call, json& object) {
  json& metadata = object["metadata"];
  const std::string prefix = text_at(metadata, {"generateName"});
  if (!text_at(metadata, {"name"}).empty() || prefix.empty()) return;
  for (int attempt = 0; attempt < kNameAttempts; ++attempt) {
    metadata["name"] = generate_name(call.state.random, prefix);
    if (!call.state.storage.get(call.kind->bucket, call.key_of(name_of(object)))) return;
  }
  throw StatusError(already_exists(*call.kind, name_of(object)));
}

void refuse_if_any(const Call& call, const json& object, std::vector<Cause> causes) {
  if (!causes.empty()) throw StatusError(invalid(*call.kind, name_of(object), std::move(causes)));
}

void refuse_if_exists(const Call& call, const json& object) {
  const Object there = call.state.storage.get(call.kind->bucket, call.key_of(name_of(object)));
  if (!there) return;
  Status status = already_exists(*call.kind, name_of(object));
  if (is_being_deleted(there->value())) {
    status.message = cat("object is being deleted: ", status.message);
  }
  throw StatusError(std::move(status));
}

}  // namespace

http::Response answer(const Call& call, int status, const StoredObject& object) {
  http::Response response{
      .status = status,
      .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}},
      .body = Representation(call.kind, call.request, call.info, call.state.clock).object(object)};
  add_warnings(call, response);
  return response;
}

Object finish_create(Call& call, json object) {
  const Kind& kind = *call.kind;
  prepare_created_metadata(call, object);
  choose_name(call, object);
  prepare_create(call, object);
  std::vector<Cause> causes = metadata_causes(kind, object, nullptr);
  for (Cause& cause : strategy_causes(call, object, nullptr)) causes.push_back(std::move(cause));
  refuse_if_any(call, object, std::move(causes));
  admit(call, "CREATE", &object, nullptr);
  refuse_if_exists(call, object);
  track_fields(call, json::object(), object);
  if (call.dry_run) return std::make_shared<const StoredObject>(std::move(object), 0);
  const std::string key = call.key_of(name_of(object));
  Object stored = call.state.storage.put(kind.bucket, key, std::move(object));
  call.state.stored(kind, *stored);
  return stored;
}

Object finish_update(Call& call, const Object& old_object, json next) {
  const Kind& kind = *call.kind;
  const json& before = old_object->value();
  keep_server_metadata(before, next);
  drop_repeated_owners(call, next);
  prepare_update(call, before, next);
  std::vector<Cause> causes = metadata_causes(kind, next, &before);
  for (Cause& cause : strategy_causes(call, next, &before)) causes.push_back(std::move(cause));
  refuse_if_any(call, next, std::move(causes));
  admit(call, "UPDATE", &next, &before);
  track_fields(call, before, next);
  if (is_unchanged(before, next)) return old_object;

  if (call.dry_run) {
    return std::make_shared<const StoredObject>(std::move(next), old_object->resource_version());
  }
  const std::string key = call.key_of(name_of(before));
  if (is_ready_to_go(next)) return remove_last_state(call, key, std::move(next));
  Object stored = call.state.storage.put(kind.bucket, key, std::move(next));
  call.state.stored(kind, *stored);
  return stored;
}

http::Response create_object(Call& call) {
  json object = read_object(call);
  tell_unknown_fields(call, object);
  return answer(call, 201, *finish_create(call, to_storage(*call.kind, std::move(object))));
}

http::Response update_object(Call& call) {
  json body = read_object(call);
  if (const std::string& name = name_of(body); !name.empty() && name != call.info.name) {
    throw StatusError(
        bad_request(cat("the name of the object (", name, ") does not match the name on the URL (",
                        call.info.name, ")")));
  }
  const Object old_object = call.state.storage.get(call.kind->bucket, call.key());
  if (!old_object) {
    if (!call.kind->create_on_update || !call.info.subresource.empty()) {
      throw StatusError(not_found(*call.kind, call.info.name));
    }
    body["metadata"]["name"] = call.info.name;
    body["metadata"].erase("resourceVersion");
    return answer(call, 201, *finish_create(call, to_storage(*call.kind, std::move(body))));
  }
  tell_unknown_fields(call, body);
  check_update_preconditions(call, old_object->value(), body);
  return answer(call, 200,
                *finish_update(call, old_object, to_storage(*call.kind, std::move(body))));
}

}  // namespace cdom::sandbox::server
