// AdmissionPolicies: ValidatingAdmissionPolicy and its bindings, compiled and evaluated.
//
// A snapshot: load a new one when a policy or binding changes. Immutable, so threads may share it.
// Refused at load: what this engine does not understand (paramKind, objectSelector with an unknown
// form, an expression that does not compile), with a message that names it.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/base/result.h"

namespace cdom::sandbox {

// What the API server is asked to do. `object` is absent for DELETE, `old_object` for CREATE.
struct AdmissionRequest {
  std::string operation;  // CREATE, UPDATE, DELETE, CONNECT
  std::string group, version, resource, subresource, kind;
  std::string name, namespace_;
  std::string user, user_uid;
  std::vector<std::string> user_groups;
  const nlohmann::json* user_extra = nullptr;  // {key: [values]}
  const nlohmann::json* object = nullptr;
  const nlohmann::json* old_object = nullptr;
  const nlohmann::json* namespace_object = nullptr;
  bool dry_run = false;
};

struct Denial {
  int code = 422;
  std::string reason;  // of the Status: Invalid, Forbidden, …
  std::string cause;   // the one in details.causes, which has nothing but a message
  std::string message;  // of the Status, whole: `widgets.g "a" is forbidden: Validating… denied …`
};

class AdmissionPolicies {
 public:
  AdmissionPolicies() = default;
  static base::Result<AdmissionPolicies> load(const std::vector<nlohmann::json>& policies,
                                              const std::vector<nlohmann::json>& bindings);

  // The first denial, or nothing when every policy that applies agrees.
  [[nodiscard]] std::optional<Denial> review(const AdmissionRequest& request) const;

 private:
  struct Policy;
  std::vector<std::shared_ptr<const Policy>> policies_;
};

}  // namespace cdom::sandbox
