// Isolation by channel: domains on the same nodes, each with an IMEX channel of its own. In a
// cluster whose agents are told so.
#include <set>

#include "compute_domain/base/text.h"
#include "scenarios/homes/scenario.h"
#include "source_tree/source_tree.h"

namespace cdom::scenarios {
namespace {

using testing::SizeIs;

class Channels : public Scenario {
 protected:
  Channels() : Scenario({.by_channel = true}) {}
  std::set<std::int64_t> channels_of(const std::string& name) {
    std::set<std::int64_t> channels;
    const api::ComputeDomain object = domain(name);
    if (!object.status) return channels;
    for (const auto& node : object.status->nodes) channels.insert(node.channel);
    return channels;
  }
  // The state of the clique's daemon and the reason of CanServe, as `kubectl get cdn -o wide` has
  // them.
  [[nodiscard]] std::string line_of_node(const std::string& node) const {
    const auto cdn = kubectl().client().get<api::ComputeDomainNode>({"", node});
    if (!cdn || cdn->status.groups.empty()) return "";
    const api::Condition* can_serve = api::find_condition(cdn->status.conditions, "CanServe");
    return base::cat(api::to_string(cdn->status.groups.front().state), " ",
                     can_serve == nullptr ? "" : can_serve->reason);
  }
  testing::AssertionResult node_becomes(const std::string& node, const std::string& line) {
    return eventually(
        base::cat(node, ": ", line), [&] { return line_of_node(node) == line; }, kLate);
  }
  // The containers of `name`-0 and `name`-1 see the domain's channel and no other.
  void expect_own_channel(const std::string& name) {
    const auto channels = channels_of(name);
    ASSERT_THAT(channels, SizeIs(1)) << name;
    for (const char* pod : {"-0", "-1"}) {
      EXPECT_TRUE(sees_only_channel(*channels.begin(), name + pod));
    }
  }
};

TEST_F(Channels, DomainsOnTheSameNodesAreKeptApartByChannel) {
  const auto on = nodes(2);
  // The daemons run before there is a workload, and know nothing of those that come and go.
  for (const std::string& node : on) ASSERT_TRUE(node_becomes(node, "Ready RequirementsMet"));
  const std::string daemons = daemons_on(on);
  std::set<std::int64_t> seen;
  for (const char* name : {"blue", "green", "red"}) {
    settle(name, on);
    const auto channels = channels_of(name);
    ASSERT_THAT(channels, SizeIs(1)) << name;
    EXPECT_GT(*channels.begin(), 0);
    EXPECT_TRUE(seen.insert(*channels.begin()).second) << name;
  }
  for (const char* name : {"blue", "green", "red"}) expect_own_channel(name);
  // Each goes by itself.
  for (const char* pod : {"green-0", "green-1"}) kubectl().remove("Pod", pod);
  kubectl().remove("ComputeDomain", "green");
  EXPECT_TRUE(goes("green"));
  for (const char* name : {"blue", "red"}) {
    EXPECT_TRUE(becomes(name, "Ready", "2/2", "AllNodesReady"));
    expect_own_channel(name);
  }
  EXPECT_EQ(daemons_on(on), daemons);
}

TEST_F(Channels, TheExampleHasTwoDomainsOnTheSameNodes) {
  std::string yaml = source_text("manifests/examples/by-channel.yaml");
  const auto on = nodes(2);
  for (std::size_t i = 0; i < on.size(); ++i) {
    const std::string its = base::cat("hostname: n0", i + 1, "\n");
    for (auto at = yaml.find(its); at != std::string::npos; at = yaml.find(its, at + 1)) {
      yaml.replace(at, its.size(), base::cat("hostname: ", on[i], "\n"));
    }
  }
  kubectl().apply(yaml);
  EXPECT_TRUE(becomes("blue", "Ready", "2/2", "AllNodesReady"));
  EXPECT_TRUE(becomes("green", "Ready", "2/2", "AllNodesReady"));
  EXPECT_NE(channels_of("blue"), channels_of("green"));
}

TEST_F(Channels, AControllerThatStartsAnewKeepsTheNumbers) {
  settle("blue", nodes(2));
  settle("green", nodes(2));
  const auto blue = channels_of("blue"), green = channels_of("green");
  home().restart_controller();
  settle("red", nodes(2));
  EXPECT_EQ(channels_of("blue"), blue);
  EXPECT_EQ(channels_of("green"), green);
  EXPECT_NE(channels_of("red"), blue);
  EXPECT_NE(channels_of("red"), green);
}

TEST_F(Channels, AnAgentThatStartsAnewFindsItsDomainsAgain) {
  const auto on = nodes(2);
  settle("blue", on);
  const auto channels = channels_of("blue");
  const std::string daemons = daemons_on(on);
  fault(on[0], "agent-crash");
  EXPECT_TRUE(stays("blue", "Ready", "2/2", 3s));
  heal(on[0]);
  // Kubelet lets a container that has ended again and again wait.
  form("green", 2, on);
  EXPECT_TRUE(becomes("green", "Ready", "2/2", "AllNodesReady", "", kLate));
  EXPECT_TRUE(becomes("blue", "Ready", "2/2", "AllNodesReady"));
  EXPECT_EQ(channels_of("blue"), channels);
  expect_own_channel("blue");
  EXPECT_EQ(daemons_on(on), daemons);
}

TEST_F(Channels, APodThatComesAgainFindsItsDomainsChannel) {
  settle("blue", nodes(2));
  const auto channels = channels_of("blue");
  kubectl().remove("Pod", "blue-0");
  EXPECT_TRUE(becomes("blue", "NotReady", "1/2", "WaitingForNodes"));
  ASSERT_TRUE(eventually("the pod is gone", [&] { return !exists_pod("blue-0"); }));
  kubectl().apply(pod_yaml("blue-0", "blue-channel", nodes(2).front()));
  EXPECT_TRUE(becomes("blue", "Ready", "2/2", "AllNodesReady"));
  EXPECT_EQ(channels_of("blue"), channels);
}

// As `kubectl cordon` and the GPU Operator write them; taken back at the end whatever happens.
class NodeInMaintenance {
 public:
  NodeInMaintenance(Kubectl& kubectl, std::string node)
      : kubectl_(kubectl), node_(std::move(node)) {}
  ~NodeInMaintenance() {
    try {
      cordon(false);
      pause(false);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  NodeInMaintenance(const NodeInMaintenance&) = delete;
  NodeInMaintenance& operator=(const NodeInMaintenance&) = delete;

  void cordon(bool is_cordoned) const {
    kubectl_.patch(
        "Node", node_,
        is_cordoned ? R"({"spec":{"unschedulable":true}})" : R"({"spec":{"unschedulable":null}})");
  }
  void pause(bool is_paused) const {
    kubectl_.patch("Node", node_,
                   base::cat(R"({"metadata":{"labels":{"nvidia.com/gpu.deploy.client":)",
                             is_paused ? R"("paused-for-driver-upgrade")" : "null", "}}}"));
  }
  [[nodiscard]] std::size_t seats() const {
    const auto slices = kubectl_.client().list_all<api::ResourceSlice>({});
    std::size_t seats = 0;
    if (!slices) return seats;
    for (const api::ResourceSlice& slice : *slices) {
      if (slice.node == node_ && slice.driver == "compute-domain.nvidia.com") {
        seats += slice.devices.size();
      }
    }
    return seats;
  }

 private:
  Kubectl& kubectl_;
  const std::string node_;
};

TEST_F(Channels, ACordonedNodeWithoutClaimsLetsGoOfTheDriver) {
  const std::string name = nodes(1).front();
  const NodeInMaintenance node(kubectl(), name);
  ASSERT_TRUE(node_becomes(name, "Ready RequirementsMet"));
  const std::size_t seats = node.seats();
  EXPECT_GT(seats, 1U);
  node.cordon(true);
  EXPECT_TRUE(node_becomes(name, "None Cordoned"));
  EXPECT_TRUE(eventually("nothing holds the driver", [&] { return daemons_on({name}).empty(); }));
  EXPECT_EQ(node.seats(), seats);
  node.pause(true);
  EXPECT_TRUE(node_becomes(name, "None DriverPaused"));
  EXPECT_TRUE(eventually("no seats", [&] { return node.seats() == 0; }));
  node.cordon(false);
  node.pause(false);
  EXPECT_TRUE(node_becomes(name, "Ready RequirementsMet"));
  EXPECT_TRUE(eventually("its seats", [&] { return node.seats() == seats; }));
}

TEST_F(Channels, ACordonedNodeWithAClaimServesItToItsEnd) {
  const auto on = nodes(2);
  settle("blue", on);
  const NodeInMaintenance node(kubectl(), on.front());
  node.cordon(true);
  node.pause(true);
  ASSERT_TRUE(node_becomes(on.front(), "Ready DriverPaused"));
  EXPECT_TRUE(stays("blue", "Ready", "2/2", 10s));
  for (const char* pod : {"blue-0", "blue-1"}) kubectl().remove("Pod", pod);
  kubectl().remove("ComputeDomain", "blue");
  EXPECT_TRUE(goes("blue"));
  EXPECT_TRUE(node_becomes(on.front(), "None DriverPaused"));
}

}  // namespace
}  // namespace cdom::scenarios
