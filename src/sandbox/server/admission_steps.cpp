#include "sandbox/server/admission_steps.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/server/object_path.h"
#include "sandbox/server/status.h"

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

}  // namespace

void admit(const Call& call, std::string_view operation, const json* object,
           const json* /*old_object*/) {
  check_namespace(call, operation, object);
}

}  // namespace cdom::sandbox::server
