#include "sandbox/apiserver/access/access_control.h"

#include <array>
#include <nlohmann/json.hpp>

namespace cdom::sandbox::server {

namespace {

constexpr std::array kRbacBuckets = {
    "clusterroles.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io",
    "roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io"};
constexpr const char* kPolicies = "validatingadmissionpolicies.admissionregistration.k8s.io";
constexpr const char* kPolicyBindings =
    "validatingadmissionpolicybindings.admissionregistration.k8s.io";

std::vector<json> values_in(const Storage& storage, const char* bucket) {
  std::vector<json> out;
  for (const Object& object : storage.range(bucket, "")) out.push_back(object->value());
  return out;
}

}  // namespace

void AccessControl::note_change(const Kind& kind) {
  if (kind.group == "rbac.authorization.k8s.io") rbac_.reset();
  if (kind.group == "admissionregistration.k8s.io") policies_.reset();
}

bool AccessControl::allows(const User& user, const Access& access) {
  if (!enforces_ || user.is_master()) return true;
  if (!rbac_) {
    std::vector<json> objects;
    for (const char* bucket : kRbacBuckets) {
      for (json& object : values_in(storage_, bucket)) objects.push_back(std::move(object));
    }
    rbac_.emplace(objects);
  }
  return rbac_->allows(access);
}

std::optional<Denial> AccessControl::review(const AdmissionRequest& request) {
  if (!policies_) {
    auto loaded = AdmissionPolicies::load(values_in(storage_, kPolicies),
                                          values_in(storage_, kPolicyBindings));
    if (!loaded)
      return Denial{.code = 500, .reason = "InternalError", .message = loaded.error().message};
    policies_ = std::move(loaded).value();
  }
  return policies_->review(request);
}

Access access_of(const RequestInfo& info, const User& user) {
  Access access{.user = user.name, .groups = user.groups, .verb = info.verb};
  if (!info.is_resource) {
    access.path = info.path;
    return access;
  }
  access.group = info.group;
  access.resource = info.resource;
  access.subresource = info.subresource;
  access.name = info.name;
  access.namespace_ = info.namespace_;
  return access;
}

bool is_open_to_all(const RequestInfo& info) {
  if (info.is_resource) {
    return info.verb == "create" &&
           (info.resource == "selfsubjectreviews" || info.resource == "selfsubjectaccessreviews");
  }
  for (const char* path :
       {"/api", "/apis", "/openapi", "/version", "/healthz", "/livez", "/readyz"}) {
    if (info.path == path || info.path.starts_with(std::string(path) + "/")) return true;
  }
  return false;
}

}  // namespace cdom::sandbox::server
