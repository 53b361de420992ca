#include <gmock/gmock.h>

#include "sandbox/apiserver/api_client.h"

namespace cdom::sandbox {
namespace {

constexpr const char* kClaims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";

// A node plugin's rights, on a node of its own.
constexpr const char* kPluginRights = R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: plugin}
rules:
- {apiGroups: [resource.k8s.io], resources: [resourceclaims/status], verbs: [patch]}
- {apiGroups: [resource.k8s.io], resources: [resourceclaims/driver], resourceNames: [d.example], verbs: ["associated-node:patch"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: plugin}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: plugin}
subjects:
- {kind: ServiceAccount, namespace: default, name: plugin}
)";

class Claim : public ApiServerTest {
 protected:
  Claim() { api.post(kClaims, claim()); }
  static json claim() {
    return {
        {"metadata", {{"name", "c"}}},
        {"spec",
         {{"devices",
           {{"requests", {{{"name", "r"}, {"exactly", {{"deviceClassName", "d.example"}}}}}}}}}}};
  }
  static json allocation(const std::string& device) {
    const json result = {
        {"request", "r"}, {"driver", "d.example"}, {"pool", "n1"}, {"device", device}};
    const json field = {{"key", "metadata.name"}, {"operator", "In"}, {"values", {"n1"}}};
    return {{"devices", {{"results", json::array({result})}}},
            {"nodeSelector",
             {{"nodeSelectorTerms", json::array({{{"matchFields", json::array({field})}}})}}}};
  }
  static json consumer(const std::string& name) {
    return {{"resource", "pods"}, {"name", name}, {"uid", "uid-" + name}};
  }
  Answer set_status(const json& status) { return api.merge(c + "/status", {{"status", status}}); }

  const std::string c = std::string(kClaims) + "/c";
};

TEST_F(Claim, GetsModeAndCountByDefault) {
  const json exactly = api.get(c).body["spec"]["devices"]["requests"][0]["exactly"];
  EXPECT_EQ(exactly["allocationMode"], "ExactCount");
  EXPECT_EQ(exactly["count"], 1);
}

TEST_F(Claim, ItsSpecCannotChange) {
  EXPECT_EQ(api.merge(c, {{"spec", {{"devices", {{"requests", nullptr}}}}}}).status, 422);
}

TEST_F(Claim, AnAllocationCanBeClearedButNotChanged) {
  EXPECT_EQ(set_status({{"allocation", allocation("d0")}}).status, 200);
  const Answer changed = set_status({{"allocation", allocation("d1")}});
  EXPECT_EQ(changed.status, 422);
  EXPECT_EQ(changed.body["details"]["causes"][0]["field"], "status.allocation");
  EXPECT_EQ(set_status({{"allocation", nullptr}}).status, 200);
  EXPECT_EQ(set_status({{"allocation", allocation("d1")}}).status, 200);
}

TEST_F(Claim, ConsumersNeedAnAllocation) {
  EXPECT_EQ(set_status({{"reservedFor", {consumer("p")}}}).status, 422);
  EXPECT_EQ(
      set_status({{"allocation", allocation("d0")}, {"reservedFor", json::array({consumer("p")})}})
          .status,
      200);
  EXPECT_EQ(set_status({{"allocation", nullptr}}).status, 422);
  EXPECT_EQ(set_status({{"allocation", nullptr}, {"reservedFor", nullptr}}).status, 200);
}

TEST_F(Claim, HasAtMost256Consumers) {
  json consumers = json::array();
  for (int i = 0; i < 256; ++i) consumers.push_back(consumer("p" + std::to_string(i)));
  EXPECT_EQ(set_status({{"allocation", allocation("d0")}, {"reservedFor", consumers}}).status, 200);
  consumers.push_back(consumer("one-too-many"));
  const Answer refused = set_status({{"reservedFor", consumers}});
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.body["message"],
            "ResourceClaim.resource.k8s.io \"c\" is invalid: status.reservedFor: Too many: 257: "
            "must have at most 256 items");
}

TEST_F(Claim, IsAllocatedForNodesThatCanBeSelected) {
  json wrong = allocation("d0");
  wrong["nodeSelector"]["nodeSelectorTerms"] = json::array();
  const Answer refused = set_status({{"allocation", wrong}});
  EXPECT_EQ(refused.status, 422);
  EXPECT_EQ(refused.body["details"]["causes"][0]["field"],
            "status.allocation.nodeSelector.nodeSelectorTerms");
}

TEST_F(Claim, OnlyAllocatedDevicesHaveStatus) {
  const json entry = {{"driver", "d.example"}, {"pool", "n1"}, {"device", "d0"}};
  EXPECT_EQ(set_status({{"devices", json::array({entry})}}).status, 422);
  set_status({{"allocation", allocation("d0")}});
  EXPECT_EQ(set_status({{"devices", json::array({entry})}}).status, 200);
  const Answer cleared = set_status({{"allocation", nullptr}});
  EXPECT_FALSE(cleared.body["status"].contains("devices"));
}

TEST_F(Claim, IsShownInTheShapeOfEachVersion) {
  const json old =
      api.get("/apis/resource.k8s.io/v1beta1/namespaces/default/resourceclaims/c").body;
  EXPECT_EQ(old["apiVersion"], "resource.k8s.io/v1beta1");
  EXPECT_EQ(old["spec"]["devices"]["requests"][0]["deviceClassName"], "d.example");

  json flat = old;
  flat["metadata"] = {{"name", "flat"}};
  api.post("/apis/resource.k8s.io/v1beta1/namespaces/default/resourceclaims", flat);
  EXPECT_EQ(api.get(std::string(kClaims) + "/flat").body["spec"], api.get(c).body["spec"]);
}

TEST_F(Claim, AVersionThatIsOffIsNotServed) {
  ApiServer old(clock, {.disabled_versions = {"resource.k8s.io/v1", "resource.k8s.io/v1beta2"}});
  ApiClient client(old);
  EXPECT_EQ(client.get("/apis/resource.k8s.io/v1/resourceclaims").status, 404);
  EXPECT_EQ(client.get("/apis/resource.k8s.io/v1beta1/resourceclaims").status, 200);
  EXPECT_EQ(client.get("/apis/resource.k8s.io").body["preferredVersion"]["version"], "v1beta1");
}

TEST_F(Claim, ANodePluginWritesOnlyDevicesOfItsDriverOnItsNode) {
  ASSERT_TRUE(server.load(kPluginRights));
  set_status({{"allocation", allocation("d0")}});
  const json entry = {{"driver", "d.example"}, {"pool", "n1"}, {"device", "d0"}};
  const json patch = {{"status", {{"devices", json::array({entry})}}}};
  ApiClient elsewhere(server, service_account_user("default", "plugin", "n2"));
  ApiClient here(server, service_account_user("default", "plugin", "n1"));
  EXPECT_EQ(elsewhere.merge(c + "/status", patch).status, 422);
  EXPECT_EQ(here.merge(c + "/status", patch).status, 200);
  EXPECT_EQ(here.merge(c + "/status", {{"status", {{"allocation", nullptr}}}}).status, 422);
}

// The API server takes only a selector of one node by its name for a node (1.36,
// nodeNameFromAllocation).
TEST_F(Claim, ANodePluginWritesNothingToAClaimOfManyNodes) {
  ASSERT_TRUE(server.load(kPluginRights));
  json many = allocation("d0");
  json& term = many["nodeSelector"]["nodeSelectorTerms"][0];
  term = {{"matchExpressions",
           {{{"key", "nvidia.com/gpu.clique"}, {"operator", "In"}, {"values", {"aaaa.0"}}}}}};
  ASSERT_EQ(set_status({{"allocation", many}}).status, 200);
  const json entry = {{"driver", "d.example"}, {"pool", "n1"}, {"device", "d0"}};
  ApiClient here(server, service_account_user("default", "plugin", "n1"));
  const Answer refused =
      here.merge(c + "/status", {{"status", {{"devices", json::array({entry})}}}});
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.body["message"].get<std::string>(),
              testing::HasSubstr("verb=\"[arbitrary-node:patch]\""));
}

}  // namespace
}  // namespace cdom::sandbox
