#include "sandbox/apiserver/serving/routes.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/access/reviews.h"
#include "sandbox/apiserver/rest/deletes.h"
#include "sandbox/apiserver/rest/field_tracking.h"
#include "sandbox/apiserver/rest/log_reads.h"
#include "sandbox/apiserver/rest/reads.h"
#include "sandbox/apiserver/rest/subresources.h"
#include "sandbox/apiserver/rest/unknown_fields.h"
#include "sandbox/apiserver/rest/writes.h"
#include "sandbox/apiserver/serving/status.h"

namespace cdom::sandbox::server {

namespace {

bool wants_dry_run(const RequestInfo& info) {
  const std::string& wanted = info.option("dryRun");
  if (wanted.empty()) return false;
  if (wanted == "All") return true;
  throw StatusError(invalid_options(
      "CreateOptions",
      {{.reason = "FieldValueNotSupported",
        .message = base::cat("Unsupported value: \"", wanted, "\": supported values: \"All\""),
        .field = "dryRun"}}));
}

[[noreturn]] void refuse_method(const Call& call) {
  throw StatusError(method_not_allowed(*call.kind, call.info.verb));
}

http::Response answer_object(Call& call) {
  const std::string& verb = call.info.verb;
  const bool has_name = !call.info.name.empty();
  if (verb == "get") return get_object(call);
  if (verb == "list") return list_objects(call);
  if (verb == "deletecollection") return delete_collection(call);
  if (verb == "create" && !has_name) return create_object(call);
  if (verb == "update" && has_name) return update_object(call);
  if (verb == "patch" && has_name) return patch_object(call);
  if (verb == "delete") return delete_object(call);
  refuse_method(call);
}

http::Response answer_subresource(Call& call) {
  const std::string& subresource = call.info.subresource;
  const std::string& verb = call.info.verb;
  if (subresource == "status") {
    if (verb == "get") return get_object(call);
    if (verb == "update") return update_object(call);
    if (verb == "patch") return patch_object(call);
  }
  if (subresource == "log" && verb == "get") return read_log(call);
  if (subresource == "token" && verb == "create") return request_token(call);
  if (subresource == "binding" && verb == "create") return bind_pod(call);
  if (subresource == "eviction" && verb == "create") return evict_pod(call);
  if (subresource == "finalize" && verb == "update") return finalize_namespace(call);
  refuse_method(call);
}

// POST to a collection of a namespaced resource needs the namespace in the path; so does everything
// that has a name.
bool fits_scope(const Kind& kind, const RequestInfo& info) {
  if (!kind.namespaced) return info.namespace_.empty() || kind.resource == "namespaces";
  if (!info.namespace_.empty()) return true;
  return info.name.empty() && (info.verb == "list" || info.verb == "watch" || kind.is_review);
}

// What needs a container, and a simulated pod has none.
bool needs_container(const RequestInfo& info) {
  return info.resource == "pods" &&
         (info.subresource == "exec" || info.subresource == "attach" ||
          info.subresource == "portforward" || info.subresource == "proxy");
}

Status no_container(const RequestInfo& info) {
  return {.code = 501,
          .reason = "NotImplemented",
          .message = base::cat("pod ", info.name, " is simulated: it has no container for ",
                               info.subresource, ", only status and logs")};
}

}  // namespace

Call call_of(ApiState& state, const http::Request& request, const RequestInfo& info,
             const User& user) {
  KindRef kind = state.kinds.find(info.group, info.version, info.resource);
  if (!kind || !fits_scope(*kind, info)) throw StatusError(no_such_path());
  if (needs_container(info)) throw StatusError(no_container(info));
  if (!info.subresource.empty() && !kind->has_subresource(info.subresource)) {
    throw StatusError(no_such_path());
  }
  Call call{state, request, info, user, std::move(kind)};
  call.dry_run = wants_dry_run(info);
  call.field_validation = wanted_field_validation(info);
  call.field_manager = field_manager_of(request, info);
  return call;
}

http::Response answer_resource(Call& call) {
  if (call.kind->is_review) {
    if (call.info.verb != "create") refuse_method(call);
    return answer_review(call);
  }
  return call.info.subresource.empty() ? answer_object(call) : answer_subresource(call);
}

bool is_stream_request(const RequestInfo& info) {
  return info.is_resource &&
         (info.verb == "watch" || (info.subresource == "log" && info.is_set("follow")));
}

std::unique_ptr<LiveStream> open_stream(const std::shared_ptr<ApiState>& state, Call& call) {
  if (call.info.subresource == "log") return follow_log(state, call);
  return watch_objects(state, call);
}

}  // namespace cdom::sandbox::server
