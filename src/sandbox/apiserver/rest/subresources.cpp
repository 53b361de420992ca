#include "sandbox/apiserver/rest/subresources.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/rest/deletes.h"
#include "sandbox/apiserver/rest/object_path.h"
#include "sandbox/apiserver/rest/writes.h"
#include "sandbox/apiserver/serving/body.h"
#include "sandbox/apiserver/serving/status.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

Object existing(const Call& call) {
  Object found = call.state.storage.get(call.kind->bucket, call.key());
  if (!found) throw StatusError(not_found(*call.kind, call.info.name));
  return found;
}

http::Response success() {
  return {.status = 201,
          .headers = {{"Content-Type", "application/json"}},
          .body = json{
              {"kind", "Status"},
              {"apiVersion", "v1"},
              {"metadata", json::object()},
              {"status", "Success"},
              {"code",
               201}}.dump()};
}

void set_condition(json& status, const std::string& type, const base::Clock& clock) {
  json& conditions = status["conditions"];
  if (conditions.is_null()) conditions = json::array();
  std::erase_if(conditions.get_ref<json::array_t&>(),
                [&](const json& condition) { return text_at(condition, {"type"}) == type; });
  conditions.push_back({{"type", type},
                        {"status", "True"},
                        {"lastProbeTime", nullptr},
                        {"lastTransitionTime", base::to_rfc3339(clock.now())}});
}

}  // namespace

http::Response bind_pod(Call& call) {
  const json binding = read_body(call.request);
  const Object pod = existing(call);
  const std::string& node = text_at(binding, {"target", "name"});
  const std::string& uid = uid_of(binding);
  if (node.empty()) throw StatusError(bad_request("a Binding must name its target node"));
  if (!uid.empty() && uid != uid_of(pod->value())) {
    throw StatusError(conflict(*call.kind, call.info.name,
                               cat("Precondition failed: UID in precondition: ", uid,
                                   ", UID in object meta: ", uid_of(pod->value()))));
  }
  if (is_being_deleted(pod->value())) {
    throw StatusError(
        conflict(*call.kind, call.info.name,
                 cat("pod ", call.info.name, " is being deleted, cannot be assigned to a host")));
  }
  const std::string& assigned = text_at(pod->value(), {"spec", "nodeName"});
  if (!assigned.empty()) {
    throw StatusError(
        conflict(*call.kind, call.info.name,
                 cat("pod ", call.info.name, " is already assigned to node \"", assigned, "\"")));
  }
  json next = pod->value();
  next["spec"]["nodeName"] = node;
  set_condition(next["status"], "PodScheduled", call.state.clock);
  if (!call.dry_run) {
    const Object stored = call.state.storage.put("pods", call.key(), std::move(next));
    call.state.stored(*call.kind, *stored);
  }
  return success();
}

http::Response evict_pod(Call& call) {
  existing(call);
  const json eviction = read_body(call.request);
  http::Request request = call.request;
  request.body = at_path(eviction, {"deleteOptions"}).is_null()
                     ? ""
                     : at_path(eviction, {"deleteOptions"}).dump();
  request.headers["Content-Type"] = "application/json";
  Call deletion{call.state, request, call.info, call.user, call.kind};
  deletion.dry_run = call.dry_run;
  delete_object(deletion);
  return success();
}

http::Response finalize_namespace(Call& call) {
  const json body = read_object(call);
  const Object old_object = existing(call);
  json next = old_object->value();
  next["spec"]["finalizers"] = at_path(body, {"spec", "finalizers"});
  if (next["spec"]["finalizers"].is_null()) next["spec"]["finalizers"] = json::array();
  return answer(call, 200, *finish_update(call, old_object, std::move(next)));
}

}  // namespace cdom::sandbox::server
