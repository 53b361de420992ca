#include "compute_domain/plugin/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "plugin/views.h"

namespace cdom::plugin {
namespace {

using namespace plugin::testing;  // NOLINT(google-build-using-namespace): the words of a view
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kOtherClique[] = "6f0a5a5e-0000-4000-8000-000000000001.1";

TEST(Topology, HasEachCliqueWithItsNodesAndDevices) {
  ClusterView view = settled_view();
  add_node(view, idle_node("n3"));
  add_node(view, idle_node("n4", kOtherClique), kOtherClique);
  const TopologyReport report = topology(view);
  ASSERT_EQ(report.cliques.size(), 2U);
  EXPECT_EQ(report.cliques[0].name, kClique);
  EXPECT_EQ(report.cliques[0].devices, (DeviceCount{.free = 1, .in_use = 2, .out = 0}));
  EXPECT_THAT(report.cliques[0].domains, ElementsAre("team-a/train"));
  EXPECT_EQ(report.cliques[1].devices, (DeviceCount{.free = 1, .in_use = 0, .out = 0}));
  EXPECT_EQ(report.cliques[1].nodes.front().name, "n4");
  EXPECT_THAT(report.unreachable, IsEmpty());
}

TEST(Topology, HasCliquesAndNodesInTheOrderInWhichPeopleCount) {
  ClusterView view = settled_view();
  for (const char* name : {"n10", "n9"}) {
    add_node(view, idle_node(name, "6f0a.10"), "6f0a.10");
  }
  add_node(view, idle_node("n11", "6f0a.9"), "6f0a.9");
  std::vector<std::string> names;
  for (const TopologyClique& clique : topology(view).cliques) {
    for (const TopologyNode& node : clique.nodes) names.push_back(clique.name + " " + node.name);
  }
  EXPECT_THAT(names, ::testing::IsSupersetOf({"6f0a.9 n11", "6f0a.10 n9", "6f0a.10 n10"}));
  const auto at = [&](const std::string& name) { return std::ranges::find(names, name); };
  EXPECT_LT(at("6f0a.9 n11"), at("6f0a.10 n9"));
  EXPECT_LT(at("6f0a.10 n9"), at("6f0a.10 n10"));
}

TEST(Topology, LeavesOutANodeThatSomebodyWantsNoAgentOn) {
  ClusterView view = settled_view();
  const auto has_n9 = [&view] {
    const auto cliques = topology(view).cliques;
    return std::ranges::any_of(cliques, [](const TopologyClique& clique) {
      return std::ranges::find(clique.nodes, "n9", &TopologyNode::name) != clique.nodes.end();
    });
  };
  view.nodes.emplace_back().meta.name = "n9";
  view.nodes.back().meta.labels[api::kAgentNodeLabel] = "true";
  EXPECT_TRUE(has_n9());
  view.nodes.back().meta.labels[api::kAgentNodeLabel] = "false";
  EXPECT_FALSE(has_n9());
}

TEST(Topology, CountsDevicesOfANodeThatIsDownAsOut) {
  ClusterView view = settled_view();
  core::NodeView down = idle_node("n3");
  down.node->ready = api::ConditionStatus::False;
  add_node(view, down);
  EXPECT_EQ(topology(view).cliques.front().devices,
            (DeviceCount{.free = 0, .in_use = 2, .out = 1}));
}

TEST(Topology, PutsNodesWithoutAFabricLast) {
  ClusterView view = settled_view();
  add_node(view, idle_node("a0", ""), "");
  const TopologyReport report = topology(view);
  ASSERT_EQ(report.cliques.size(), 2U);
  EXPECT_EQ(report.cliques[1].name, "");
  EXPECT_EQ(report.cliques[1].nodes.front().name, "a0");
  EXPECT_THAT(text_of(report), HasSubstr("No clique: 1 node"));
}

TEST(Topology, TellsPairsThatDoNotReachEachOther) {
  core::World world = settled_world(4);
  api::ImexGroupReport& group = core::testing::group_report(world, "n1");
  group.connected = "0,2-3";
  group.unreachable = {"n2"};
  const TopologyReport report = topology(view_of(world));
  EXPECT_THAT(report.unreachable, ElementsAre(UnreachablePair{"team-a/train", "n1", "n2"}));
  EXPECT_THAT(text_of(report), HasSubstr("Nodes that do not reach each other"));
  EXPECT_THAT(json_of(report), HasSubstr("\"to\": \"n2\""));
}

TEST(Topology, SaysWhatIsWrongWithANode) {
  ClusterView view = settled_view();
  view.nodes.front().boot_id = "boot-2";
  EXPECT_THAT(topology(view).cliques.front().nodes.front().trouble, HasSubstr("NodeRebooted"));
}

// As `kubectl get cdn` does.
TEST(Topology, DoesNotKnowWhatADaemonDoesWhoseReportIsNotBelieved) {
  ClusterView view = settled_view();
  view.nodes.front().ready = api::ConditionStatus::Unknown;
  for (auto& report : view.reports) report.status.summary.state = api::DaemonState::Ready;
  const TopologyReport report = topology(view);
  EXPECT_EQ(report.cliques.front().nodes.front().daemon, "Unknown");
  EXPECT_EQ(report.cliques.front().nodes.back().daemon, "Ready");
  EXPECT_THAT(json_of(report), HasSubstr("\"imex\": \"Unknown\""));
}

TEST(Topology, SaysOfANodeWhatCheckFinds) {
  ClusterView view = settled_view(4);
  std::erase_if(view.slices, [](const auto& slice) { return slice.node == "n1"; });
  report_in(view, "n2").status.groups.front().state = api::DaemonState::Failed;
  report_in(view, "n3").status.conditions.clear();
  report_in(view, "n4").status.conditions.front() = {.type = api::kConditionCanServe,
                                                     .status = api::ConditionStatus::False,
                                                     .reason = "Cordoned",
                                                     .message = "the node is cordoned",
                                                     .last_transition = kNow};
  const std::vector<TopologyNode> nodes = topology(view).cliques.front().nodes;
  ASSERT_EQ(nodes.size(), 4U);
  EXPECT_THAT(nodes[0].trouble, HasSubstr("no ResourceSlice"));
  EXPECT_THAT(nodes[1].trouble, HasSubstr("ImexFailed"));
  EXPECT_THAT(nodes[2].trouble, HasSubstr("not reported yet"));
  EXPECT_THAT(nodes[3].trouble, HasSubstr("the node is cordoned"));
  EXPECT_TRUE(nodes[3].is_meant);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(nodes[i].is_meant) << i;
}

}  // namespace
}  // namespace cdom::plugin
