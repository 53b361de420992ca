#include <gmock/gmock.h>

#include "sandbox/apiserver/api_client.h"

namespace cdom::sandbox {
namespace {

constexpr const char* kRoles = R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: default}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects:
- {kind: ServiceAccount, namespace: default, name: reader}
)";

class Access : public ApiServerTest {
 protected:
  Access() {
    EXPECT_TRUE(server.load(kRoles));
    api.post(kConfigMaps, config_map("a"));
    api.post("/api/v1/namespaces/default/serviceaccounts", {{"metadata", {{"name", "reader"}}}});
  }
  ApiClient reader{server, service_account_user("default", "reader")};
  const std::string a = std::string(kConfigMaps) + "/a";
  static constexpr const char* kToken = "/api/v1/namespaces/default/serviceaccounts/reader/token";
};

TEST_F(Access, IsWhatTheStoredRolesAllow) {
  EXPECT_EQ(reader.get(a).status, 200);
  const Answer answer = reader.remove(a);
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.body["message"],
            "configmaps \"a\" is forbidden: User \"system:serviceaccount:default:reader\" cannot "
            "delete resource \"configmaps\" in API group \"\" in the namespace \"default\"");
}

TEST_F(Access, ChangesWithTheRoles) {
  api.remove("/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings/reader");
  EXPECT_EQ(reader.get(a).status, 403);
}

TEST_F(Access, EverybodyMayReadDiscoveryAndAskAboutThemselves) {
  EXPECT_EQ(reader.get("/apis").status, 200);
  const Answer who = reader.post("/apis/authentication.k8s.io/v1/selfsubjectreviews",
                                 {{"kind", "SelfSubjectReview"}});
  EXPECT_EQ(who.body["status"]["userInfo"]["username"], "system:serviceaccount:default:reader");
  const json question = {
      {"spec",
       {{"resourceAttributes",
         {{"verb", "get"}, {"resource", "configmaps"}, {"namespace", "default"}}}}}};
  const std::string path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  EXPECT_EQ(reader.post(path, question).body["status"]["allowed"], true);
}

TEST_F(Access, AnAdministratorMaySpeakForOthers) {
  http::Request request{.method = "DELETE", .target = a};
  request.headers["Impersonate-User"] = "system:serviceaccount:default:reader";
  EXPECT_EQ(server.handle(request, admin_user()).status, 403);
}

TEST_F(Access, ATokenAuthenticatesItsServiceAccountUntilItExpires) {
  const Answer answer = api.post(kToken, {{"spec", {{"expirationSeconds", 600}}}});
  ASSERT_EQ(answer.status, 201);
  const std::string token = answer.body["status"]["token"];
  const auto user = server.authenticate(token);
  ASSERT_TRUE(user);
  EXPECT_EQ(user->name, "system:serviceaccount:default:reader");
  clock.advance(std::chrono::minutes(10));
  EXPECT_FALSE(server.authenticate(token));
}

TEST_F(Access, ATokenBoundToAPodNamesItsNodeAndEndsWithIt) {
  const json pod = {
      {"metadata", {{"name", "p"}}},
      {"spec",
       {{"nodeName", "n1"}, {"containers", json::array({{{"name", "c"}, {"image", "i"}}})}}}};
  api.post("/api/v1/namespaces/default/pods", pod);
  const json bound = {{"spec", {{"boundObjectRef", {{"kind", "Pod"}, {"name", "p"}}}}}};
  const std::string token = api.post(kToken, bound).body["status"]["token"];
  const auto user = server.authenticate(token);
  ASSERT_TRUE(user);
  EXPECT_EQ(user->extra.at("authentication.kubernetes.io/node-name"),
            std::vector<std::string>{"n1"});
  api.remove("/api/v1/namespaces/default/pods/p", {{"gracePeriodSeconds", 0}});
  EXPECT_FALSE(server.authenticate(token));
}

TEST_F(Access, TheAdministratorsTokenIsKnown) {
  EXPECT_TRUE(server.authenticate(server.admin_token())->is_master());
  EXPECT_FALSE(server.authenticate("guess"));
}

}  // namespace
}  // namespace cdom::sandbox
