#include "sandbox/apiserver/rules/admission_steps.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/rest/object_path.h"
#include "sandbox/apiserver/serving/status.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

// As the admission plugin NamespaceLifecycle.
void check_namespace(const Call& call, std::string_view operation, const json* object) {
  if (!call.kind->namespaced || operation != "CREATE") return;
  const std::string& name = call.info.namespace_;
  const Object found = call.state.storage.get("namespaces", name);
  if (!found) {
    throw StatusError(not_found(*call.state.kinds.find("", "v1", "namespaces"), name));
  }
  if (!is_being_deleted(found->value())) return;
  Status status = forbidden(
      *call.kind, name_of(*object),
      cat("unable to create new content in namespace ", name, " because it is being terminated"));
  status.causes.push_back({.reason = "NamespaceTerminating",
                           .message = cat("namespace ", name, " is being terminated"),
                           .field = "metadata.namespace"});
  throw StatusError(std::move(status));
}

void check_policies(const Call& call, std::string_view operation, const json* object,
                    const json* old_object) {
  const Kind& kind = *call.kind;
  const json extra = call.user.extra;
  const Object space = call.state.storage.get("namespaces", call.info.namespace_);
  const AdmissionRequest request{
      .operation = std::string(operation),
      .group = kind.group,
      .version = kind.storage_version,
      .resource = kind.resource,
      .subresource = call.info.subresource,
      .kind = kind.kind,
      .name = name_of(object != nullptr ? *object : *old_object),
      .namespace_ = kind.namespaced ? call.info.namespace_ : "",
      .user = call.user.name,
      .user_uid = call.user.uid,
      .user_groups = call.user.groups,
      .user_extra = &extra,
      .object = object,
      .old_object = old_object,
      .namespace_object = kind.namespaced && space ? &space->value() : nullptr,
      .dry_run = call.dry_run};
  const auto denial = call.state.access.review(request);
  if (!denial) return;
  Status status{.code = denial->code, .reason = denial->reason, .message = denial->message};
  status.name = request.name;
  status.group = kind.group;
  status.kind = kind.resource;
  status.causes = {{.reason = denial->reason, .message = denial->message, .field = ""}};
  throw StatusError(std::move(status));
}

}  // namespace

void admit(const Call& call, std::string_view operation, const json* object,
           const json* old_object) {
  check_namespace(call, operation, object);
  check_policies(call, operation, object, old_object);
}

}  // namespace cdom::sandbox::server
