// One ResourceClaim that pods of several nodes share: its device is of a whole NVLink clique.
#include "compute_domain/base/text.h"
#include "sandbox/cluster/cluster_fixture.h"

namespace cdom::sandbox {
namespace {

using base::cat;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr char kSharedBasics[] = R"(
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: shared}
spec:
  selectors:
  - cel: {expression: "device.attributes['compute-domain.nvidia.com'].type == 'shared'"}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared, namespace: default}
spec: {devices: {requests: [{name: channel, exactly: {deviceClassName: shared}}]}}
)";

// Pods of one name spread over the nodes.
constexpr char kApart[] = R"({podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
    {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: train}}}]}})";

class SharedClaim : public ClusterTest {
 protected:
  SharedClaim() {
    apply(kSharedBasics);
    settle();
  }

  std::string clique_of(const std::string& node) {
    return label_of(get(kNodes, {"", node}), "nvidia.com/gpu.clique");
  }
  static json demand(const std::string& label, const std::string& value) {
    return {{"key", label}, {"operator", "In"}, {"values", json::array({value})}};
  }
  static json selector_of(const json& demands) {
    return {{"nodeSelectorTerms", json::array({{{"matchExpressions", demands}}})}};
  }
  json selector_of_clique(const std::string& node) {
    return selector_of(json::array({demand("nvidia.com/gpu.clique", clique_of(node))}));
  }
  // A slice with one device of type `type` for the nodes of that selector.
  void publish(const std::string& name, const std::string& pool, const json& selector,
               int slices = 1, const std::string& type = "shared") {
    const json device{{"name", cat(name, "-0")}, {"attributes", {{"type", {{"string", type}}}}}};
    const json slice{
        {"metadata", {{"name", name}}},
        {"spec",
         {{"driver", "compute-domain.nvidia.com"},
          {"nodeSelector", selector},
          {"pool", {{"name", pool}, {"generation", 1}, {"resourceSliceCount", slices}}},
          {"devices", json::array({device})}}}};
    const auto made = objects_.create(kSlices, slice);
    ASSERT_TRUE(made) << made.error().message;
  }
  void publish_clique_of(const std::string& node) {
    publish(cat("clique-of-", node), clique_of(node), selector_of_clique(node));
  }
  // `more`: fields of the spec, each on a line of its own.
  void apply_sharer(const std::string& name, const std::string& more,
                    const std::string& command = "sleep infinity") {
    apply(cat(R"(
apiVersion: v1
kind: Pod
metadata: {name: )",
              name, R"(, namespace: default, labels: {app: train}}
spec:
  restartPolicy: Never
  containers: [{name: main, image: busybox, command: [sh, -c, ")",
              command, R"("], resources: {claims: [{name: channel}]}}]
  resourceClaims: [{name: channel, resourceClaimName: shared}]
  )",
              more, "\n"));
  }
  void apply_apart(const std::string& name, const std::string& command = "sleep infinity") {
    apply_sharer(name, cat("affinity: ", kApart), command);
  }
  void apply_on(const std::string& node, const std::string& name) {
    apply_sharer(name, cat("nodeSelector: {kubernetes.io/hostname: ", node, "}"));
  }
  json shared() { return get(kClaims, {"default", "shared"}); }
  std::vector<std::string> consumers() {
    std::vector<std::string> names;
    const json claim = shared();
    for (const json& consumer : at(claim, "/status/reservedFor")) {
      names.push_back(text_at(consumer, "/name"));
    }
    return names;
  }
  std::string node_of(const std::string& pod) {
    return text_at(get(kPods, {"default", pod}), "/spec/nodeName");
  }
  void set_status(const json& status) {
    const auto written =
        objects_.merge_patch(kClaims, {"default", "shared"}, {{"status", status}}, "status");
    ASSERT_TRUE(written) << written.error().message;
  }
};

TEST_F(SharedClaim, IsAllocatedOnceForPodsOfAllNodesOfTheClique) {
  publish_clique_of("r2n01");
  apply_apart("a");
  apply_apart("b");
  settle();
  EXPECT_EQ(phase("a"), "Running");
  EXPECT_EQ(phase("b"), "Running");
  EXPECT_THAT((std::vector{node_of("a"), node_of("b")}), UnorderedElementsAre("r2n01", "r2n02"));
  EXPECT_THAT(consumers(), ElementsAre("a", "b"));
  EXPECT_THAT(at(shared(), "/status/allocation/devices/results"), SizeIs(1));
  EXPECT_EQ(at(shared(), "/status/allocation/nodeSelector"), selector_of_clique("r2n01"));
  EXPECT_THAT(script_.prepared, UnorderedElementsAre(cat("r2n01/", uid_of(shared())),
                                                     cat("r2n02/", uid_of(shared()))));
}

// Held back before it is tried: nothing has failed, and nothing is waited for afterwards.
TEST_F(SharedClaim, ThatDoesNotExistYetHoldsItsPodBack) {
  publish_clique_of("r1n01");
  remove(kClaims, {"default", "shared"});
  apply_apart("a");
  do_what_is_due();
  EXPECT_EQ(phase("a"), "Pending");
  EXPECT_THAT(reasons("a"), IsEmpty());
  apply(kSharedBasics);
  do_what_is_due();
  EXPECT_EQ(node_of("a"), "r1n01");
}

TEST_F(SharedClaim, LetsAPodWaitForANodeOfTheClique) {
  publish_clique_of("r1n01");
  publish_clique_of("r2n01");
  for (const char* pod : {"a", "b", "c"}) apply_apart(pod);
  settle();
  EXPECT_EQ(phase("c"), "Pending");
  EXPECT_EQ(message("c", "FailedScheduling"),
            "0/4 nodes are available: 2 node(s) didn't match pod anti-affinity rules, 2 "
            "resourceclaim not available on the node.");
  EXPECT_THAT(consumers(), ElementsAre("a", "b"));
  remove(kPods, {"default", "a"});
  wait(seconds(15));
  EXPECT_EQ(phase("c"), "Running");
  EXPECT_THAT(consumers(), ElementsAre("b", "c"));
}

TEST_F(SharedClaim, StaysAllocatedUntilItsLastPodHasEnded) {
  publish_clique_of("r1n01");
  apply_apart("a", "sleep 30");
  apply_apart("b", "sleep 60");
  wait(seconds(40));
  EXPECT_EQ(phase("a"), "Succeeded");
  EXPECT_THAT(consumers(), ElementsAre("b"));
  EXPECT_FALSE(at(shared(), "/status/allocation").is_null());
  EXPECT_THAT(script_.unprepared, ElementsAre(cat(node_of("a"), "/", uid_of(shared()))));
  wait(seconds(30));
  EXPECT_EQ(phase("b"), "Succeeded");
  EXPECT_TRUE(at(shared(), "/status").empty()) << shared()["status"];
  EXPECT_TRUE(at(shared(), "/metadata/finalizers").empty());
  EXPECT_THAT(script_.unprepared, SizeIs(2));
}

TEST_F(SharedClaim, IsAllocatedAnewInAnotherCliqueForLaterPods) {
  publish_clique_of("r1n01");
  publish_clique_of("r2n01");
  apply_on("r1n02", "first");
  settle();
  ASSERT_EQ(phase("first"), "Running");
  apply_on("r2n02", "later");
  settle();
  EXPECT_EQ(phase("later"), "Pending");
  remove(kPods, {"default", "first"});
  wait(seconds(15));
  EXPECT_EQ(phase("later"), "Running");
  EXPECT_EQ(at(shared(), "/status/allocation/nodeSelector"), selector_of_clique("r2n02"));
}

TEST_F(SharedClaim, FollowsAPodWhenNobodyElseUsesIt) {
  publish_clique_of("r1n01");
  publish_clique_of("r2n01");
  const json result{{"request", "channel"},
                    {"driver", "compute-domain.nvidia.com"},
                    {"pool", clique_of("r1n01")},
                    {"device", "clique-of-r1n01-0"}};
  set_status({{"allocation",
               {{"devices", {{"results", json::array({result})}}},
                {"nodeSelector", selector_of_clique("r1n01")}}}});
  apply_on("r2n01", "train");
  settle();
  EXPECT_EQ(phase("train"), "Running");
  EXPECT_EQ(text_at(shared(), "/status/allocation/devices/results/0/device"), "clique-of-r2n01-0");
}

TEST_F(SharedClaim, IsPreparedOnceForAllPodsOfANode) {
  publish_clique_of("r1n01");
  apply_on("r1n01", "a");
  apply_on("r1n01", "b");
  apply_on("r1n02", "c");
  settle();
  const std::string claim = uid_of(shared());
  EXPECT_THAT(script_.prepared, UnorderedElementsAre(cat("r1n01/", claim), cat("r1n02/", claim)));
  EXPECT_EQ(phase("b"), "Running");
  remove(kPods, {"default", "a"});
  settle();
  EXPECT_THAT(script_.unprepared, IsEmpty());
  EXPECT_THAT(consumers(), UnorderedElementsAre("b", "c"));
  remove(kPods, {"default", "b"});
  settle();
  EXPECT_THAT(script_.unprepared, ElementsAre(cat("r1n01/", claim)));
  EXPECT_THAT(consumers(), ElementsAre("c"));
}

TEST_F(SharedClaim, HasNoRoomForAPodBeyondThe256th) {
  publish_clique_of("r1n01");
  apply_on("r1n01", "first");
  settle();
  json holders = at(shared(), "/status/reservedFor");
  for (int i = 1; i < 256; ++i) {  // that no scheduler here looks at
    const json pod{{"metadata", {{"namespace", "default"}, {"name", cat("holder-", i)}}},
                   {"spec",
                    {{"schedulerName", "none"},
                     {"containers", json::array({{{"name", "main"}, {"image", "busybox"}}})},
                     {"resourceClaims",
                      json::array({{{"name", "channel"}, {"resourceClaimName", "shared"}}})}}}};
    const auto made = objects_.create(kPods, pod);
    ASSERT_TRUE(made) << made.error().message;
    holders.push_back({{"resource", "pods"}, {"name", cat("holder-", i)}, {"uid", uid_of(*made)}});
  }
  set_status({{"reservedFor", holders}});
  apply_sharer("last", "");
  wait(seconds(30));
  EXPECT_THAT(consumers(), SizeIs(256));
  EXPECT_EQ(phase("last"), "Pending");
  EXPECT_THAT(message("last", "FailedScheduling"),
              "running PreBind plugin \"DynamicResources\": add reservation to claim "
              "default/shared: ResourceClaim.resource.k8s.io \"shared\" is invalid: "
              "status.reservedFor: Too many: 257: must have at most 256 items");
  EXPECT_EQ(text_at(get(kPods, {"default", "last"}), "/status/conditions/0/reason"),
            "SchedulerError");
  remove(kPods, {"default", "holder-1"}, {.grace_period_seconds = 0});
  wait(seconds(30));
  EXPECT_EQ(phase("last"), "Running");
}

TEST_F(SharedClaim, LeavesNoPodInClaimsThatItCannotUseTogether) {
  publish_clique_of("r1n01");
  apply_on("r1n01", "first");
  settle();
  json holders = at(shared(), "/status/reservedFor");
  for (int i = 1; i < 256; ++i) {
    holders.push_back({{"resource", "things"}, {"name", cat("t-", i)}, {"uid", cat("t-", i)}});
  }
  set_status({{"reservedFor", holders}});
  apply(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: own, namespace: default}
spec: {devices: {requests: [{name: channel, exactly: {deviceClassName: channel}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: both, namespace: default}
spec:
  containers: [{name: main, image: busybox}]
  resourceClaims:
  - {name: own, resourceClaimName: own}
  - {name: shared, resourceClaimName: shared}
)");
  wait(seconds(5));
  const json own = get(kClaims, {"default", "own"});
  EXPECT_FALSE(at(own, "/status/allocation").is_null());
  EXPECT_TRUE(at(own, "/status/reservedFor").empty());
}

TEST_F(SharedClaim, AClaimWithADeviceOfANodeTooIsForThatNode) {
  publish_clique_of("r1n01");
  apply(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: both, namespace: default}
spec:
  devices:
    requests:
    - {name: shared, exactly: {deviceClassName: shared}}
    - name: own
      exactly:
        deviceClassName: channel
        selectors: [{cel: {expression: "device.attributes['compute-domain.nvidia.com'].type == 'channel'"}}]
---
apiVersion: v1
kind: Pod
metadata: {name: train, namespace: default}
spec:
  containers: [{name: main, image: busybox}]
  resourceClaims: [{name: both, resourceClaimName: both}]
)");
  settle();
  const json both = get(kClaims, {"default", "both"});
  ASSERT_THAT(at(both, "/status/allocation/devices/results"), SizeIs(2));
  const json& terms = at(both, "/status/allocation/nodeSelector/nodeSelectorTerms");
  ASSERT_THAT(terms, SizeIs(1));
  EXPECT_FALSE(terms[0].contains("matchExpressions"));
  EXPECT_EQ(at(terms[0], "/matchFields/0/values"), json::array({node_of("train")}));
}

TEST_F(SharedClaim, OfTwoSlicesIsForNodesThatHaveBoth) {
  const json rack = demand("sandbox.compute-domain/rack", "r1");
  const json clique = demand("nvidia.com/gpu.clique", clique_of("r1n01"));
  publish("a", "pool-a", selector_of(json::array({clique})));
  publish("b", "pool-b", selector_of(json::array({clique, rack})), 1, "other");
  apply(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: both, namespace: default}
spec:
  devices:
    requests:
    - {name: a, exactly: {deviceClassName: shared}}
    - name: b
      exactly:
        deviceClassName: channel
        selectors: [{cel: {expression: "device.attributes['compute-domain.nvidia.com'].type == 'other'"}}]
---
apiVersion: v1
kind: Pod
metadata: {name: train, namespace: default}
spec:
  containers: [{name: main, image: busybox}]
  resourceClaims: [{name: both, resourceClaimName: both}]
)");
  settle();
  EXPECT_EQ(at(get(kClaims, {"default", "both"}), "/status/allocation/nodeSelector"),
            selector_of(json::array({clique, rack})));
}

TEST_F(SharedClaim, WaitsForAllSlicesOfItsPool) {
  publish("a", "fabric", selector_of_clique("r1n01"), 2);
  apply_on("r1n01", "train");
  settle();
  EXPECT_EQ(phase("train"), "Pending");
  EXPECT_THAT(message("train", "FailedScheduling"), EndsWith("3 node(s) didn't match Pod's node "
                                                             "affinity/selector."));
  publish("b", "fabric", selector_of_clique("r2n01"), 2);
  wait(seconds(15));
  EXPECT_EQ(phase("train"), "Running");
  EXPECT_EQ(text_at(shared(), "/status/allocation/devices/results/0/device"), "a-0");
}

}  // namespace
}  // namespace cdom::sandbox
