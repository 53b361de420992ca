// The life of pods and claims in the simulated cluster.
#include <set>

#include "compute_domain/base/text.h"
#include "sandbox/cluster/cluster_fixture.h"
#include "source_tree/source_tree.h"

namespace cdom::sandbox {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(ClusterTest, RegistersItsNodesWithLeasesAndAgents) {
  EXPECT_THAT(list(kNodes), SizeIs(4));
  EXPECT_THAT(list(kLeases, "kube-node-lease"), SizeIs(4));
  EXPECT_THAT(list(kSlices), SizeIs(4));
  const json node = get(kNodes, {"", "r2n01"});
  EXPECT_THAT(label_of(node, "nvidia.com/gpu.clique"), testing::EndsWith(".1"));
  EXPECT_EQ(text_at(node, "/status/addresses/0/address"), "10.88.2.1");
}

class LongRack : public ClusterTest {
 protected:
  LongRack() : ClusterTest({.racks = 1, .nodes_per_rack = 257}) {}
};

TEST_F(LongRack, HasAnAddressForEachNode) {
  EXPECT_EQ(text_at(get(kNodes, {"", "n255"}), "/status/addresses/0/address"), "10.88.1.255");
  EXPECT_EQ(text_at(get(kNodes, {"", "n256"}), "/status/addresses/0/address"), "10.89.1.0");
  EXPECT_EQ(text_at(get(kNodes, {"", "n257"}), "/status/addresses/0/address"), "10.89.1.1");
}

TEST_F(ClusterTest, QuotesTheServerWithoutTheRequest) {
  const auto none = objects_.get(kPods, {"default", "none"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, R"(pods "none" not found)");
  EXPECT_EQ(none.error().kind, base::ErrorKind::NotFound);
}

TEST_F(ClusterTest, APodWithAClaimRunsWhereTheClaimWasAllocated) {
  apply_template();
  apply_pod("train");
  settle();
  EXPECT_EQ(phase("train"), "Running");
  const auto claims = list(kClaims, "default");
  ASSERT_THAT(claims, SizeIs(1));
  EXPECT_EQ(text_at(claims[0], "/status/allocation/devices/results/0/pool"), "r1n01");
  EXPECT_EQ(text_at(claims[0], "/status/reservedFor/0/name"), "train");
  EXPECT_THAT(script_.prepared, SizeIs(1));
}

TEST_F(ClusterTest, AClaimOfAnotherDriverCountsAsPrepared) {
  apply_template();
  apply(source_text("tests/workloads/gpus.yaml"));
  apply(R"(
apiVersion: v1
kind: Pod
metadata: {name: train, namespace: default}
spec:
  containers:
  - {name: main, image: busybox, resources: {claims: [{name: gpu}, {name: channel}]}}
  resourceClaims:
  - {name: gpu, resourceClaimTemplateName: gpu}
  - {name: channel, resourceClaimTemplateName: channel}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu, namespace: default}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}]}}}
)");
  settle();
  EXPECT_EQ(phase("train"), "Running");
  std::set<std::string> drivers;
  for (const json& claim : list(kClaims, "default")) {
    const std::string driver = text_at(claim, "/status/allocation/devices/results/0/driver");
    drivers.insert(driver);
    if (driver == "compute-domain.nvidia.com") {
      EXPECT_THAT(script_.prepared, testing::ElementsAre(base::cat("r1n01/", uid_of(claim))));
    }
  }
  EXPECT_THAT(drivers, testing::ElementsAre("compute-domain.nvidia.com", "gpu.nvidia.com"));
  remove(kPods, {"default", "train"});
  settle();
  EXPECT_THAT(list(kClaims, "default"), IsEmpty());
}

TEST_F(ClusterTest, AFinishedPodLetsItsClaimGo) {
  apply_template();
  apply_pod("train", "sleep 30");
  wait(seconds(29));
  EXPECT_EQ(phase("train"), "Running");
  wait(seconds(2));
  EXPECT_EQ(phase("train"), "Succeeded");
  EXPECT_THAT(script_.unprepared, SizeIs(1));
  EXPECT_THAT(list(kClaims, "default"), IsEmpty());
}

TEST_F(ClusterTest, ADeletedPodIsUnpreparedBeforeItGoes) {
  apply_template();
  apply_pod("train");
  settle();
  remove(kPods, {"default", "train"});
  settle();
  EXPECT_TRUE(get(kPods, {"default", "train"}).is_null());
  EXPECT_THAT(script_.unprepared, SizeIs(1));
  EXPECT_THAT(list(kClaims, "default"), IsEmpty());
}

TEST_F(ClusterTest, OnePodTooManyWaitsUntilADeviceIsFree) {
  apply_template();
  const std::vector<std::string> pods{"a", "b", "c", "d", "e"};
  for (const std::string& name : pods) apply_pod(name);
  settle();
  std::vector<std::string> pending, running;
  for (const std::string& name : pods) {
    (phase(name) == "Pending" ? pending : running).push_back(name);
  }
  ASSERT_THAT(pending, SizeIs(1));
  EXPECT_THAT(reasons(pending[0]), Contains("FailedScheduling"));
  remove(kPods, {"default", running[0]});
  wait(seconds(15));
  EXPECT_EQ(phase(pending[0]), "Running");
}

TEST_F(ClusterTest, APodWithoutItsTemplateWaitsForIt) {
  apply_pod("train");
  settle();
  EXPECT_THAT(reasons("train"), Contains("FailedResourceClaimCreation"));
  apply_template();
  wait(seconds(15));
  EXPECT_EQ(phase("train"), "Running");
}

TEST_F(ClusterTest, ASelectorThatFailsStopsThePodEverywhere) {
  apply(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: odd, namespace: default}
spec:
  devices:
    requests:
    - name: r
      exactly:
        deviceClassName: channel
        selectors: [{cel: {expression: "device.attributes['compute-domain.nvidia.com'].nope == 1"}}]
---
apiVersion: v1
kind: Pod
metadata: {name: odd, namespace: default}
spec:
  containers: [{name: main, image: busybox}]
  resourceClaims: [{name: c, resourceClaimName: odd}]
)");
  settle();
  EXPECT_EQ(phase("odd"), "Pending");
  EXPECT_THAT(message("odd", "FailedScheduling"), HasSubstr("CEL runtime error"));
}

TEST_F(ClusterTest, AFailedPrepareIsToldAndTriedAgain) {
  script_.refusal = "no such domain";
  apply_template();
  apply_pod("train");
  settle();
  EXPECT_THAT(message("train", "FailedPrepareDynamicResources"),
              HasSubstr("Failed to prepare dynamic resources: prepare dynamic resources: "
                        "NodePrepareResources failed for ResourceClaim"));
  script_.refusal.clear();
  wait(seconds(16));
  EXPECT_EQ(phase("train"), "Running");
}

TEST_F(ClusterTest, APodDeletedWhileItIsPreparedGoesAtOnce) {
  script_.waits = true;
  apply_template();
  apply_pod("train");
  wait(seconds(5));
  remove(kPods, {"default", "train"});
  settle();
  EXPECT_TRUE(get(kPods, {"default", "train"}).is_null());
  EXPECT_THAT(script_.unprepared, SizeIs(1));
}

TEST_F(ClusterTest, APodDeletedBeforeTheNextAttemptGoesAtOnce) {
  script_.refusal = "no such domain";
  apply_template();
  apply_pod("train");
  settle();
  remove(kPods, {"default", "train"});
  settle();
  EXPECT_TRUE(get(kPods, {"default", "train"}).is_null());
}

TEST_F(ClusterTest, ADeletedNamespaceTakesAlongWhatIsInIt) {
  apply(R"(
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: team}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: team}
spec: {containers: [{name: main, image: nginx}]}
)");
  wait(seconds(5));
  EXPECT_FALSE(get(kServiceAccounts, {"team", "default"}).is_null());
  EXPECT_EQ(text_at(get(kPods, {"team", "web"}), "/status/phase"), "Running");
  remove(kNamespaces, {"", "team"});
  wait(minutes(1));
  EXPECT_TRUE(get(kNamespaces, {"", "team"}).is_null());
  EXPECT_THAT(list(kPods, "team"), IsEmpty());
}

TEST_F(ClusterTest, ASettledClusterWritesNothingButLeases) {
  apply_template();
  apply_pod("train");
  wait(minutes(1));
  const auto version_of_others = [this] {
    std::string all;
    for (const api::Kind& resource : {kPods, kNodes, kClaims, kSlices, kEvents, kNamespaces}) {
      for (const json& object : list(resource)) all += text_at(object, "/metadata/resourceVersion");
    }
    return all;
  };
  const std::string before = version_of_others();
  wait(minutes(10));
  EXPECT_EQ(version_of_others(), before);
}

}  // namespace
}  // namespace cdom::sandbox
