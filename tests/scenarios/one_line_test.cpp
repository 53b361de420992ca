// A channel by one line of a container's limits: the scheduler makes the claim, of Kubernetes 1.36
// or later. With a device class of the scenario's own, so that others can be played beside it.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "scenarios/homes/scenario.h"

namespace cdom::scenarios {
namespace {

using base::cat;
using json = nlohmann::json;
using testing::IsEmpty;
using testing::StartsWith;

class OneLine : public Scenario {
 protected:
  void SetUp() override {
    Scenario::SetUp();
    kubectl().apply(cat(R"(apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: )",
                        kubectl().ns(), R"(}
spec:
  extendedResourceName: )",
                        resource(), R"(
  selectors: [{cel: {expression: "device.driver == 'compute-domain.nvidia.com' &&
    device.attributes['compute-domain.nvidia.com'].type == 'channel'"}}]
)"));
  }
  void TearDown() override {
    Scenario::TearDown();
    kubectl().remove("DeviceClass", kubectl().ns());
  }

  [[nodiscard]] std::string resource() const { return cat(kubectl().ns(), ".example.com/channel"); }
  void ask(const std::string& pod, const std::string& node, const std::string& limits) {
    kubectl().apply(cat(R"(apiVersion: v1
kind: Pod
metadata: {name: )",
                        pod, R"(}
spec:
  terminationGracePeriodSeconds: 1
  nodeSelector: {kubernetes.io/hostname: )",
                        node, R"(}
  containers:
  - {name: other, image: busybox, command: [sleep, infinity]}
  - {name: worker, image: busybox, command: [sleep, infinity], resources: {limits: {)",
                        limits, "}}}\n"));
  }
  [[nodiscard]] json read(const std::string& kind, const std::string& name) const {
    const std::string text = kubectl().get(kind, name);
    return text.empty() ? json() : json::parse(text);
  }
  [[nodiscard]] std::string claim_of(const std::string& pod) const {
    return read("Pod", pod)
        .value("/status/extendedResourceClaimStatus/resourceClaimName"_json_pointer, "");
  }
};

TEST_F(OneLine, GivesAPodAClaimThatTheSchedulerMakes) {
  const std::string node = nodes(1)[0];
  ask("train", node, cat("cpu: 1m, ", resource(), ": 1"));
  ASSERT_TRUE(eventually("the pod has a claim", [&] { return !claim_of("train").empty(); }));
  const json pod = read("Pod", "train");
  EXPECT_EQ(pod["status"]["extendedResourceClaimStatus"]["requestMappings"],
            json::array({{{"containerName", "worker"},
                          {"resourceName", resource()},
                          {"requestName", "container-1-request-1"}}}));
  EXPECT_FALSE(pod["spec"].contains("resourceClaims"));

  const json claim = read("ResourceClaim", claim_of("train"));
  EXPECT_THAT(claim["metadata"]["name"].get<std::string>(),
              StartsWith("train-extended-resources-"));
  EXPECT_EQ(claim["metadata"]["annotations"],
            json({{"resource.kubernetes.io/extended-resource-claim", "true"}}));
  EXPECT_EQ(claim["metadata"]["ownerReferences"], json::array({{{"apiVersion", "v1"},
                                                                {"kind", "Pod"},
                                                                {"name", "train"},
                                                                {"uid", pod["metadata"]["uid"]},
                                                                {"controller", true}}}));
  EXPECT_EQ(claim["metadata"]["finalizers"],
            json::array({"resource.kubernetes.io/delete-protection"}));
  EXPECT_EQ(claim["spec"]["devices"]["requests"],
            json::array({{{"name", "container-1-request-1"},
                          {"exactly",
                           {{"deviceClassName", kubectl().ns()},
                            {"allocationMode", "ExactCount"},
                            {"count", 1}}}}}));
  EXPECT_FALSE(claim["spec"]["devices"].contains("config"));
  EXPECT_EQ(
      claim["status"]["reservedFor"],
      json::array({{{"resource", "pods"}, {"name", "train"}, {"uid", pod["metadata"]["uid"]}}}));
  EXPECT_EQ(claim["status"]["allocation"]["devices"]["results"],
            json::array({{{"request", "container-1-request-1"},
                          {"driver", "compute-domain.nvidia.com"},
                          {"pool", node},
                          {"device", "channel-0"}}}));

  kubectl().remove("Pod", "train");
  EXPECT_TRUE(
      eventually("the claim goes with it", [&] { return all<api::ResourceClaim>().empty(); }));
}

TEST_F(OneLine, InEveryPodOfAJobFormsItsDomain) {
  kubectl().apply(cat(R"(apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  completionMode: Indexed
  completions: 3
  parallelism: 3
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{
        matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [)",
                      base::join(nodes(3), ", "), R"(]}]}]}}}
      containers:
      - {name: worker, image: busybox, command: [sleep, infinity], resources: {limits: {)",
                      resource(), ": 1}}}\n"));
  ASSERT_TRUE(
      eventually("there is a domain", [&] { return all<api::ComputeDomain>().size() == 1; }));
  const std::string name = all<api::ComputeDomain>().front().meta.name;
  EXPECT_THAT(name, StartsWith("train-"));
  EXPECT_TRUE(becomes(name, "Ready", "3/3", "AllNodesReady"));
  EXPECT_TRUE(eventually("the pods run", [&] {
    return std::ranges::all_of(all<api::Pod>(),
                               [](const api::Pod& pod) { return pod.phase == "Running"; });
  }));
  kubectl().remove("Job", "train");
  EXPECT_TRUE(goes(name));
}

TEST_F(OneLine, ForMoreThanANodeHasMakesNoClaim) {
  ask("train", nodes(1)[0], cat(resource(), ": 2"));
  EXPECT_TRUE(tells("Pod", "train", "FailedScheduling", "1 cannot allocate all claims"));
  EXPECT_THAT(all<api::ResourceClaim>(), IsEmpty());
}

TEST_F(OneLine, WithoutAClassIsNothingThatANodeHas) {
  ask("train", nodes(1)[0], "example.com/nothing: 1");
  EXPECT_TRUE(tells("Pod", "train", "FailedScheduling", "Insufficient example.com/nothing"));
}

}  // namespace
}  // namespace cdom::scenarios
