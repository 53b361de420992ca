#include "sandbox/apiserver/access/rbac.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cdom::sandbox {
namespace {

using nlohmann::json;

json role(const char* kind, const char* name, const char* rules, const char* namespace_ = "") {
  return {{"kind", kind},
          {"metadata", {{"name", name}, {"namespace", namespace_}}},
          {"rules", json::parse(rules)}};
}

json binding(const char* kind, const char* role_kind, const char* role_name, const char* subject,
             const char* namespace_ = "") {
  return {{"kind", kind},
          {"metadata", {{"name", "b"}, {"namespace", namespace_}}},
          {"roleRef", {{"kind", role_kind}, {"name", role_name}}},
          {"subjects", json::array({json::parse(subject)})}};
}

constexpr const char* kAgent = R"({"kind": "ServiceAccount", "namespace": "op", "name": "agent"})";

Access agent(std::string verb, std::string resource, std::string namespace_ = "") {
  return {.user = "system:serviceaccount:op:agent",
          .groups = {"system:serviceaccounts"},
          .verb = std::move(verb),
          .group = "resource.nvidia.com",
          .resource = std::move(resource),
          .namespace_ = std::move(namespace_)};
}

// The agent bound cluster-wide to a ClusterRole with these rules.
Rbac with_rules(const char* rules) {
  return Rbac(
      {role("ClusterRole", "r", rules), binding("ClusterRoleBinding", "ClusterRole", "r", kAgent)});
}

TEST(Rbac, AllowsWhatARuleNamesAndNothingElse) {
  const Rbac rbac = with_rules(R"([{"apiGroups": ["resource.nvidia.com"],
      "resources": ["computedomains"], "verbs": ["get", "list"]}])");
  EXPECT_TRUE(rbac.allows(agent("get", "computedomains", "team-a")));
  EXPECT_FALSE(rbac.allows(agent("update", "computedomains")));
  EXPECT_FALSE(rbac.allows(agent("get", "computedomainnodes")));
  Access other = agent("get", "computedomains");
  other.user = "system:serviceaccount:op:other";
  EXPECT_FALSE(rbac.allows(other));
  other = agent("get", "computedomains");
  other.group = "";
  EXPECT_FALSE(rbac.allows(other));
}

TEST(Rbac, SubresourcesNeedAWordOfTheirOwn) {
  Access status = agent("patch", "computedomainnodes");
  status.subresource = "status";
  const auto allows = [&](const char* resource) {
    const json rules = {{{"apiGroups", {"*"}}, {"resources", {resource}}, {"verbs", {"*"}}}};
    return with_rules(rules.dump().c_str()).allows(status);
  };
  EXPECT_TRUE(allows("computedomainnodes/status"));
  EXPECT_TRUE(allows("*/status"));
  EXPECT_TRUE(allows("*"));
  EXPECT_FALSE(allows("computedomainnodes"));
}

TEST(Rbac, ResourceNamesDoNotCoverRequestsWithoutName) {
  const Rbac rbac = with_rules(R"([{"apiGroups": ["*"], "resources": ["*"],
      "resourceNames": ["a"], "verbs": ["*"]}])");
  Access access = agent("get", "computedomains");
  EXPECT_FALSE(rbac.allows(access));
  access.name = "a";
  EXPECT_TRUE(rbac.allows(access));
  access.name = "b";
  EXPECT_FALSE(rbac.allows(access));
}

TEST(Rbac, ARoleBindingReachesItsNamespaceOnly) {
  constexpr const char* kAll = R"([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}])";
  for (const char* kind : {"Role", "ClusterRole"}) {
    const Rbac rbac({role(kind, "r", kAll, kind == std::string("Role") ? "team-a" : ""),
                     binding("RoleBinding", kind, "r", kAgent, "team-a")});
    EXPECT_TRUE(rbac.allows(agent("get", "computedomains", "team-a"))) << kind;
    EXPECT_FALSE(rbac.allows(agent("get", "computedomains", "team-b"))) << kind;
    EXPECT_FALSE(rbac.allows(agent("list", "computedomains"))) << kind;
  }
}

TEST(Rbac, KnowsUsersAndGroups) {
  constexpr const char* kAll = R"([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}])";
  for (const char* subject : {R"({"kind": "User", "name": "system:serviceaccount:op:agent"})",
                              R"({"kind": "Group", "name": "system:serviceaccounts"})"}) {
    const Rbac rbac({role("ClusterRole", "r", kAll),
                     binding("ClusterRoleBinding", "ClusterRole", "r", subject)});
    EXPECT_TRUE(rbac.allows(agent("get", "computedomains"))) << subject;
  }
  Access admin = agent("get", "computedomains");
  admin.groups = {"system:masters"};
  EXPECT_TRUE(Rbac().allows(admin));
}

TEST(Rbac, PathsThatAreNoResourcesMayEndInAStar) {
  const Rbac rbac =
      with_rules(R"([{"nonResourceURLs": ["/metrics", "/logs/*"], "verbs": ["get"]}])");
  Access access{.user = "system:serviceaccount:op:agent", .verb = "get", .path = "/metrics"};
  EXPECT_TRUE(rbac.allows(access));
  access.path = "/logs/a";
  EXPECT_TRUE(rbac.allows(access));
  access.path = "/metrics/x";
  EXPECT_FALSE(rbac.allows(access));
}

TEST(Rbac, WordsTheRefusalAsTheApiServerDoes) {
  Access access = agent("update", "computedomains", "ns");
  access.name = "a";
  access.subresource = "status";
  EXPECT_EQ(
      forbidden_message(access),
      "computedomains.resource.nvidia.com \"a\" is forbidden: User "
      "\"system:serviceaccount:op:agent\" cannot update resource \"computedomains/status\" in "
      "API group \"resource.nvidia.com\" in the namespace \"ns\"");
  const Access nodes{.user = "u", .verb = "list", .resource = "nodes"};
  EXPECT_EQ(
      forbidden_message(nodes),
      "nodes is forbidden: User \"u\" cannot list resource \"nodes\" in API group \"\" at the "
      "cluster scope");
}

}  // namespace
}  // namespace cdom::sandbox
