// How many nodes a domain is asked for, has, and may have.
#include <algorithm>

#include "compute_domain/base/text.h"
#include "scenarios/homes/history.h"
#include "scenarios/homes/scenario.h"

namespace cdom::scenarios {
namespace {

using base::cat;

using NumNodes = Scenario;

TEST_F(NumNodes, MayBeChanged) {
  const auto on = nodes(3);
  settle("train", {on[0], on[1]});
  kubectl().patch("ComputeDomain", "train", R"({"spec":{"numNodes":3}})");
  EXPECT_TRUE(becomes("train", "NotReady", "2/3", "WaitingForNodes"));
  kubectl().apply(pod_yaml("train-2", "train-channel", on[2]));
  EXPECT_TRUE(becomes("train", "Ready", "3/3", "AllNodesReady"));
  kubectl().patch("ComputeDomain", "train", R"({"spec":{"numNodes":1}})");
  EXPECT_TRUE(becomes("train", "Ready", "3/3", "AllNodesReady"));
  EXPECT_EQ(slots("train").size(), 3U);
}

TEST_F(NumNodes, OfZeroIsNotReadyWithoutMembers) {
  History history(kubectl());
  kubectl().apply(domain_yaml("train", 0));
  EXPECT_TRUE(becomes("train", "NotReady", "0/0", "WaitingForPods"));
  EXPECT_TRUE(stays("train", "NotReady", "0/0", 2s));
  const auto on = nodes(2);
  kubectl().apply(pod_yaml("train-0", "train-channel", on[0]));
  kubectl().apply(pod_yaml("train-1", "train-channel", on[1]));
  EXPECT_TRUE(becomes("train", "Ready", "2/2", "AllNodesReady"));
  EXPECT_EQ(history.false_ready(0), "");
}

TEST_F(NumNodes, OfFourIsNeverReadyWithFewer) {
  const auto on = nodes(4);
  History history(kubectl());
  form("train", 4, {on[0], on[1], on[2]});
  EXPECT_TRUE(becomes("train", "NotReady", "3/4", "WaitingForNodes"));
  EXPECT_TRUE(stays("train", "NotReady", "3/4", 2s));
  kubectl().apply(pod_yaml("train-3", "train-channel", on[3]));
  EXPECT_TRUE(becomes("train", "Ready", "4/4", "AllNodesReady"));
  EXPECT_EQ(history.false_ready(4), "");
}

// A rack with a node more than a group has slots.
class Slots : public Scenario {
 protected:
  Slots() : Scenario({.racks = 2, .nodes_per_rack = 19}) {}
};

TEST_F(Slots, ThatAreTooFewAreTold) {
  form("train", 19, nodes(19));
  EXPECT_TRUE(becomes("train", "NotReady", "18/19", "GroupFull", "use fewer nodes"));
  EXPECT_TRUE(stays("train", "NotReady", "18/19", 2s));
  std::string without;
  const auto status = domain("train").status;
  for (const auto& node : status->nodes) {
    if (node.index < 0) without = node.name;
  }
  const auto on = nodes(19);
  const auto pod = std::ranges::find(on, without) - on.begin();
  ASSERT_LT(pod, 19);
  kubectl().remove("Pod", cat("train-", pod));
  kubectl().patch("ComputeDomain", "train", R"({"spec":{"numNodes":18}})");
  EXPECT_TRUE(becomes("train", "Ready", "18/18", "AllNodesReady", "", kLate));
}

using Cliques = Scenario;

TEST_F(Cliques, ThatShareNoMemoryAreToldAndEachIsConnected) {
  auto on = nodes(2);
  const auto others = nodes_of_another_rack(2);
  on.insert(on.end(), others.begin(), others.end());
  form("train", 4, on);
  EXPECT_TRUE(becomes("train", "Ready", "4/4", "AllNodesReady"));
  EXPECT_EQ(kubectl().computedomains().at(0).cliques, "2");
  EXPECT_TRUE(tells("ComputeDomain", "train", "SeveralCliques", "share no memory"));
}

}  // namespace
}  // namespace cdom::scenarios
