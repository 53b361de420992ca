// What faults do to the simulated cluster, and how it heals.
#include "sandbox/cluster/cluster_fixture.h"

namespace cdom::sandbox {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;

class FaultTest : public ClusterTest {
 protected:
  json node(const std::string& name) { return get(kNodes, {"", name}); }
  std::string ready(const std::string& name) {
    const json object = node(name);
    for (const json& condition : at(object, "/status/conditions")) {
      if (text_at(condition, "/type") == "Ready") return text_at(condition, "/status");
    }
    return "";
  }
  void fault(const std::string& name, const std::string& value) {
    annotate(kNodes, {"", name}, kFaultAnnotation, value);
    settle();
  }
};

TEST_F(FaultTest, ANodeWithoutPowerIsUnknownAfterFiftySeconds) {
  fault("r1n01", "power-off");
  wait(seconds(35));
  EXPECT_EQ(ready("r1n01"), "True");
  wait(seconds(20));
  EXPECT_EQ(ready("r1n01"), "Unknown");
  EXPECT_EQ(text_at(node("r1n01"), "/spec/taints/0/key"), "node.kubernetes.io/unreachable");
  EXPECT_EQ(ready("r1n02"), "True");
}

TEST_F(FaultTest, ItComesBackWithAnotherBootId) {
  const std::string before = text_at(node("r1n01"), "/status/nodeInfo/bootID");
  fault("r1n01", "power-off");
  wait(minutes(2));
  fault("r1n01", "");
  wait(seconds(10));
  EXPECT_EQ(ready("r1n01"), "True");
  EXPECT_THAT(at(node("r1n01"), "/spec/taints"), IsEmpty());
  EXPECT_NE(text_at(node("r1n01"), "/status/nodeInfo/bootID"), before);
  EXPECT_TRUE(cluster_.is_up());
}

TEST_F(FaultTest, ItsPodsAreEvictedAfterFiveMinutesAndGoWhenItIsBack) {
  apply_template();
  apply_pod("train");
  settle();
  fault("r1n01", "power-off");
  wait(minutes(4));
  EXPECT_FALSE(is_deleting(get(kPods, {"default", "train"})));
  wait(minutes(2));
  EXPECT_TRUE(is_deleting(get(kPods, {"default", "train"})));
  fault("r1n01", "");
  wait(seconds(20));
  EXPECT_TRUE(get(kPods, {"default", "train"}).is_null());
  EXPECT_THAT(list(kClaims, "default"), IsEmpty());
}

TEST_F(FaultTest, APodForcedAwayFromADeadNodeIsUnpreparedWhenItIsBack) {
  apply_template();
  apply_pod("train");
  settle();
  fault("r1n01", "power-off");
  remove(kPods, {"default", "train"}, {.grace_period_seconds = 0});
  wait(minutes(1));
  EXPECT_THAT(script_.unprepared, IsEmpty());
  fault("r1n01", "");
  wait(seconds(10));
  EXPECT_THAT(script_.unprepared, SizeIs(1));
}

TEST_F(FaultTest, APartitionedNodeGoesOnWhenItIsHealed) {
  apply_template();
  apply_pod("train");
  settle();
  fault("r1n01", "partition");
  wait(minutes(1));
  EXPECT_EQ(ready("r1n01"), "Unknown");
  fault("r1n01", "");
  wait(seconds(20));
  EXPECT_EQ(ready("r1n01"), "True");
  EXPECT_EQ(phase("train"), "Running");
}

TEST_F(FaultTest, ACrashedAgentMakesItsPodNotReady) {
  const int before = script_.starts;
  const api::ObjectName pod{"compute-domain-nodes", "compute-domain-agent-r1n01"};
  fault("r1n01", "agent-crash");
  EXPECT_FALSE(at(get(kPods, pod), "/status/containerStatuses/0/ready"));
  fault("r1n01", "");
  wait(seconds(5));
  EXPECT_TRUE(at(get(kPods, pod), "/status/containerStatuses/0/ready"));
  EXPECT_EQ(script_.starts, before + 1);
}

TEST_F(FaultTest, AnOutOfServiceNodeLetsItsPodsGo) {
  apply_template();
  apply_pod("train");
  settle();
  fault("r1n01", "power-off");
  wait(minutes(1));
  json tainted = node("r1n01");
  tainted["spec"]["taints"].push_back({{"key", "node.kubernetes.io/out-of-service"},
                                       {"value", "nodeshutdown"},
                                       {"effect", "NoExecute"}});
  ASSERT_TRUE(objects_.update(kNodes, tainted));
  wait(seconds(10));
  EXPECT_TRUE(get(kPods, {"default", "train"}).is_null());
}

TEST_F(FaultTest, AnUnknownFaultIsToldOnTheObjectWithTheKnownOnes) {
  fault("r1n01", "poweroff, imex-hang");
  EXPECT_EQ(
      message("r1n01", "UnknownFault"),
      "annotation sandbox.compute-domain/fault: there is no fault \"poweroff\"; the known "
      "ones are power-off, imex-kill, imex-hang, agent-crash, partition, slow-api, watch-cut, "
      "imex-cut, imex-split, fabric-error, fabric-unhealthy, imex-foreign");
  annotate(kPods, {"compute-domain-nodes", "compute-domain-agent-r1n02"}, kFaultAnnotation, "fire");
  wait(minutes(5));
  int told = 0;
  for (const json& event : list(kEvents)) {
    if (text_at(event, "/reason") == "UnknownFault") told += event.value("count", 1);
  }
  EXPECT_EQ(told, 2) << "each once";
}

TEST_F(FaultTest, OfAPodMeansItsNodeFromWhenItHasOne) {
  apply(R"(
apiVersion: v1
kind: Pod
metadata:
  name: doomed
  namespace: default
  annotations: {sandbox.compute-domain/fault: power-off}
spec:
  nodeSelector: {there: "yes"}
  containers: [{name: main, image: busybox}]
)");
  wait(minutes(1));
  EXPECT_EQ(ready("r1n02"), "True");
  ASSERT_TRUE(objects_.merge_patch(kNodes, {"", "r1n02"},
                                   {{"metadata", {{"labels", {{"there", "yes"}}}}}}));
  wait(minutes(1));
  EXPECT_EQ(ready("r1n02"), "Unknown");
  EXPECT_EQ(ready("r1n01"), "True");
}

}  // namespace
}  // namespace cdom::sandbox
