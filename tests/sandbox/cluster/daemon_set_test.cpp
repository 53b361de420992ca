// Whose the agents' pods are.
#include "sandbox/cluster/cluster_fixture.h"

namespace cdom::sandbox {
namespace {

using std::chrono::seconds;

const api::ObjectName kAgents{"compute-domain-nodes", "agents"};
const api::ObjectName kAgentPod{"compute-domain-nodes", "compute-domain-agent-r1n01"};

class DaemonSetTest : public ClusterTest {
 protected:
  explicit DaemonSetTest(const std::string& name = kAgents.name) : ClusterTest(owned_by(name)) {}

  static ClusterOptions owned_by(const std::string& name) {
    ClusterOptions options = two_small_racks();
    options.agent_daemon_set = name;
    return options;
  }
  json owner() { return at(get(kPods, kAgentPod), "/metadata/ownerReferences/0"); }
  json status(const std::string& field) {
    return at(get(kDaemonSets, kAgents), "/status/" + field);
  }
  void fault(const std::string& value) {
    annotate(kNodes, {"", "r1n01"}, kFaultAnnotation, value);
    wait(seconds(5));
  }
  void make_the_pod_again() {
    fault("agent-crash");
    remove(kPods, kAgentPod);
    fault("");
  }
};

TEST_F(DaemonSetTest, OwnsThePodsOfTheAgents) {
  EXPECT_EQ(owner()["kind"], "DaemonSet");
  EXPECT_EQ(owner()["apiVersion"], "apps/v1");
  EXPECT_EQ(owner()["uid"], uid_of(get(kDaemonSets, kAgents)));
  EXPECT_EQ(owner()["controller"], true);
}

TEST_F(DaemonSetTest, HasItsImageRun) {
  EXPECT_EQ(at(get(kPods, kAgentPod), "/spec/containers/0/image"),
            at(get(kDaemonSets, kAgents), "/spec/template/spec/containers/0/image"));
}

TEST_F(DaemonSetTest, CountsThem) {
  settle();
  EXPECT_EQ(status("desiredNumberScheduled"), 4);
  EXPECT_EQ(status("numberReady"), 4);
  fault("agent-crash");
  EXPECT_EQ(status("desiredNumberScheduled"), 4);
  EXPECT_EQ(status("numberReady"), 3);
  EXPECT_EQ(status("numberUnavailable"), 1);
  fault("");
  EXPECT_EQ(status("numberReady"), 4);
  EXPECT_TRUE(status("numberUnavailable").is_null());
}

TEST_F(DaemonSetTest, ThatIsGoneHasNoPodsMadeAgain) {
  remove(kDaemonSets, kAgents);
  make_the_pod_again();
  EXPECT_TRUE(get(kPods, kAgentPod).is_null());
  EXPECT_FALSE(cluster_.is_up());
}

class NoDaemonSetTest : public DaemonSetTest {
 protected:
  NoDaemonSetTest() : DaemonSetTest("") {}
};

// As where the nodes join another cluster, which would end a pod that it has not made.
TEST_F(NoDaemonSetTest, OwnsAPodUnasked) {
  EXPECT_TRUE(owner().is_null());
  EXPECT_TRUE(status("numberReady").is_null());
}

}  // namespace
}  // namespace cdom::sandbox
