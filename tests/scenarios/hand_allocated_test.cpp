// Pods and claims that no scheduler has placed: the test allocates them itself, in whichever
// version of resource.k8s.io the server has. So it plays also on an API server alone that has no
// v1, of which the scheduler and the controller manager of today can make no use.
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "scenarios/homes/scenario.h"

namespace cdom::scenarios {
namespace {

using base::cat;
using json = nlohmann::json;

class HandAllocated : public Scenario {
 protected:
  // As the claim controller would, from the template as it is.
  void make_claim(const std::string& name, const json& of_template) {
    const json claim{{"apiVersion", of_template["apiVersion"]},
                     {"kind", "ResourceClaim"},
                     {"metadata", {{"name", name}}},
                     {"spec", of_template["spec"]["spec"]}};
    kubectl().apply(claim.dump());
  }
  // As kube-scheduler would.
  void allocate(const std::string& claim, const std::string& node, const std::string& pod) {
    json config = json::parse(kubectl().get("ResourceClaim", claim))["spec"]["devices"].value(
        "config", json::array());
    for (json& one : config) one["source"] = "FromClaim";
    const json term{
        {"matchFields", {{{"key", "metadata.name"}, {"operator", "In"}, {"values", {node}}}}}};
    const json result{{"request", "channel"},
                      {"driver", "compute-domain.nvidia.com"},
                      {"pool", node},
                      {"device", "channel-0"}};
    const json allocation{{"devices", {{"results", json::array({result})}, {"config", config}}},
                          {"nodeSelector", {{"nodeSelectorTerms", json::array({term})}}}};
    const std::string uid = json::parse(kubectl().get("Pod", pod))["metadata"]["uid"];
    const json consumer{{"resource", "pods"}, {"name", pod}, {"uid", uid}};
    set_status(claim, {{"allocation", allocation}, {"reservedFor", json::array({consumer})}});
  }
  // As the claim controller would, once the pod is gone; which it may have done already.
  void free_claim(const std::string& claim) {
    set_status(claim, {{"allocation", nullptr}, {"reservedFor", nullptr}});
    kubectl().remove("ResourceClaim", claim);
  }
  void set_status(const std::string& claim, const json& status) {
    kubectl().patch("ResourceClaim", claim, json{{"status", status}}.dump(), "status");
  }
  void bind_pod(const std::string& name, const std::string& claim, const std::string& node) {
    kubectl().apply(cat(R"(apiVersion: v1
kind: Pod
metadata: {name: )",
                        name, R"(}
spec:
  nodeName: )",
                        node, R"(
  terminationGracePeriodSeconds: 1
  containers:
  - name: worker
    image: busybox
    command: [sleep, infinity]
    resources: {claims: [{name: channel}]}
  resourceClaims:
  - {name: channel, resourceClaimName: )",
                        claim, "}\n"));
  }
};

TEST_F(HandAllocated, ClaimsMakeMembersAndGoWithoutATrace) {
  const auto on = nodes(2);
  kubectl().apply(domain_yaml("train", 2));
  EXPECT_TRUE(becomes("train", "NotReady", "0/2", "WaitingForPods"));
  EXPECT_TRUE(eventually("a template in the served version", [&] {
    return !kubectl().get("ResourceClaimTemplate", "train-channel").empty();
  }));
  const json made = json::parse(kubectl().get("ResourceClaimTemplate", "train-channel"));
  EXPECT_EQ(made["apiVersion"], cat("resource.k8s.io/", kubectl().resource_version()));

  for (std::size_t i = 0; i < on.size(); ++i) {
    const std::string name = cat("train-", i);
    make_claim(name, made);
    bind_pod(name, name, on[i]);
    allocate(name, on[i], name);
  }
  EXPECT_TRUE(becomes("train", "Ready", "2/2", "AllNodesReady"));
  EXPECT_EQ(slots("train").size(), 2U);
  EXPECT_TRUE(eventually("the pods run", [&] {
    return phase_of("train-0") == "Running" && phase_of("train-1") == "Running";
  }));

  // Allocated, but for nobody any more: no member, and its slot stays.
  kubectl().remove("Pod", "train-1");
  EXPECT_TRUE(eventually("the pod is gone", [&] { return !exists_pod("train-1"); }));
  free_claim("train-1");
  EXPECT_TRUE(becomes("train", "NotReady", "1/2", "WaitingForNodes"));
  EXPECT_EQ(slots("train").size(), 2U);

  kubectl().remove("ComputeDomain", "train");
  EXPECT_TRUE(becomes("train", "NotReady", "1/2", "Deleting", "train-0"));
  EXPECT_EQ(kubectl().get("ResourceClaimTemplate", "train-channel"), "");
  kubectl().remove("Pod", "train-0");
  EXPECT_TRUE(eventually("the pod is gone", [&] { return !exists_pod("train-0"); }));
  free_claim("train-0");
  EXPECT_TRUE(goes("train"));
}

TEST_F(HandAllocated, AClaimThatAPersonMadeOwnsItsDomainInTheServedVersion) {
  const std::string node = nodes(1)[0];
  kubectl().apply(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: mesh}
spec:
  devices:
    requests:
    - {name: channel, exactly: {deviceClassName: compute-domain-default-channel.nvidia.com}}
)");
  bind_pod("mesh", "mesh", node);
  allocate("mesh", node, "mesh");
  EXPECT_TRUE(eventually("a domain", [&] { return !all<api::ComputeDomain>().empty(); }));
  const api::ComputeDomain made = all<api::ComputeDomain>().front();
  EXPECT_TRUE(becomes(made.meta.name, "Ready", "1/1", "AllNodesReady"));
  ASSERT_EQ(made.meta.owners.size(), 1U);
  EXPECT_EQ(made.meta.owners[0].api_version, cat("resource.k8s.io/", kubectl().resource_version()));

  // Nobody here collects what its owner leaves.
  kubectl().remove("Pod", "mesh");
  EXPECT_TRUE(eventually("the pod is gone", [&] { return !exists_pod("mesh"); }));
  free_claim("mesh");
  kubectl().remove("ComputeDomain", made.meta.name);
  EXPECT_TRUE(goes(made.meta.name));
}

}  // namespace
}  // namespace cdom::scenarios
