// Access control: RBAC and ValidatingAdmissionPolicies as of the objects that are stored now.
//
// Snapshots are built on first use after one of their objects has changed. Part of ApiState, under
// its mutex.
#pragma once

#include <optional>
#include <vector>

#include "compute_domain/sandbox/api_server.h"
#include "sandbox/apiserver/access/rbac.h"
#include "sandbox/apiserver/kinds/kinds.h"
#include "sandbox/apiserver/rules/admission.h"
#include "sandbox/apiserver/serving/request_info.h"
#include "sandbox/apiserver/storage/storage.h"

namespace cdom::sandbox::server {

class AccessControl {
 public:
  AccessControl(const Storage& storage, bool enforces) : storage_(storage), enforces_(enforces) {}

  // One of the objects that it is made of has changed, perhaps.
  void note_change(const Kind& kind);

  [[nodiscard]] bool allows(const User& user, const Access& access);
  [[nodiscard]] std::optional<Denial> review(const AdmissionRequest& request);

 private:
  const Storage& storage_;
  const bool enforces_;
  std::optional<Rbac> rbac_;
  std::optional<AdmissionPolicies> policies_;
};

// The request as RBAC sees it.
Access access_of(const RequestInfo& info, const User& user);
// What every authenticated user may do in a real cluster: read discovery and ask about themselves
// (ClusterRoles system:discovery and system:basic-user).
bool is_open_to_all(const RequestInfo& info);

}  // namespace cdom::sandbox::server
