// Rbac: who may do what, from Role, ClusterRole, RoleBinding and ClusterRoleBinding objects.
//
// A snapshot: build a new one when one of the objects changes. Immutable, so threads may share it.
// The group system:masters may do everything. Not evaluated: aggregationRule (a role has the rules
// that stand in it).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "compute_domain/base/result.h"

namespace cdom::sandbox {

// One request as the authorizer sees it. For a path that is no resource only user, groups, verb
// and path are set.
struct Access {
  std::string user;
  std::vector<std::string> groups;
  std::string verb;
  std::string group;
  std::string resource;
  std::string subresource;
  std::string name;
  std::string namespace_;  // empty: cluster-scoped, or all namespaces
  std::string path;        // non-resource, as "/metrics"
};

class Rbac {
 public:
  Rbac() = default;
  // `objects` may hold other kinds too, which are passed over.
  explicit Rbac(const std::vector<nlohmann::json>& objects);

  [[nodiscard]] bool allows(const Access& access) const;

 private:
  struct Rule {
    std::vector<std::string> verbs, groups, resources, names, paths;
  };
  struct Role {
    std::string kind, namespace_, name;
    std::vector<Rule> rules;
  };
  struct Subject {
    std::string kind, namespace_, name;
  };
  struct Binding {
    std::string namespace_;  // empty for a ClusterRoleBinding
    std::string role_kind, role_name;
    std::vector<Subject> subjects;
  };

  static Rule rule_of(const nlohmann::json& rule);
  static bool covers(const Rule& rule, const Access& access);
  static bool means(const Subject& subject, const Access& access);
  [[nodiscard]] const Role* role_of(const Binding& binding) const;

  std::vector<Role> roles_;
  std::vector<Binding> bindings_;
};

// `computedomains.resource.nvidia.com "a" is forbidden: User "u" cannot get resource …`.
std::string forbidden_message(const Access& access);

}  // namespace cdom::sandbox
