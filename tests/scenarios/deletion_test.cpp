// Domains and pods that are deleted in an order that is not the best.
#include "scenarios/homes/scenario.h"

namespace cdom::scenarios {
namespace {

using Deletion = Scenario;

TEST_F(Deletion, WaitsForRunningPodsAndSaysForWhich) {
  const auto on = nodes(2);
  settle("train", on);
  kubectl().remove("ComputeDomain", "train");
  EXPECT_TRUE(becomes("train", "NotReady", "2/2", "Deleting", "train-0"));
  EXPECT_TRUE(eventually("the template is gone",
                         [&] { return all<api::ResourceClaimTemplate>().empty(); }));
  EXPECT_TRUE(stays("train", "NotReady", "2/2", 3s));
  EXPECT_EQ(phase_of("train-0"), "Running");
  EXPECT_EQ(slots("train").size(), 2U);

  kubectl().remove("Pod", "train-0");
  EXPECT_TRUE(becomes("train", "NotReady", "1/2", "Deleting", "train-1"));
  kubectl().remove("Pod", "train-1");
  EXPECT_TRUE(goes("train"));
}

TEST_F(Deletion, OfTheDomainComesAfterTheEndOfItsDaemons) {
  const auto on = nodes(2);
  settle("train", on);
  kubectl().remove("ComputeDomain", "train");
  kubectl().remove("Pod", "train-0");
  kubectl().remove("Pod", "train-1");
  EXPECT_TRUE(goes("train"));
  for (const std::string& node : on) {
    const auto report = kubectl().client().get<api::ComputeDomainNode>({"", node});
    ASSERT_TRUE(report);
    for (const api::ImexGroupReport& group : report->status.groups) {
      EXPECT_EQ(group.state, api::DaemonState::Stopped) << node;
    }
  }
}

// A force-deleted pod proves nothing: its containers may still run.
TEST_F(Deletion, OfAPodByForceKeepsTheSlotOfItsNode) {
  const auto on = nodes(4);
  settle("train", {on[0], on[1], on[2]});
  const std::int64_t slot = slots("train").at(on[1]);
  fault(on[1], "power-off");
  EXPECT_TRUE(becomes("train", "NotReady", "2/3", "NodeUnknown", on[1], kLate));
  kubectl().remove_by_force("Pod", "train-1");
  EXPECT_TRUE(becomes("train", "NotReady", "2/3", "WaitingForNodes"));
  EXPECT_EQ(domain("train").status->nodes.size(), 2U) << "of the dead node nothing is left";

  kubectl().apply(pod_yaml("train-3", "train-channel", on[3]));
  EXPECT_TRUE(becomes("train", "Ready", "3/3", "AllNodesReady"));
  EXPECT_EQ(slots("train").at(on[1]), slot);
  EXPECT_NE(slots("train").at(on[3]), slot);

  heal(on[1]);
  kubectl().apply(pod_yaml("train-4", "train-channel", on[1]));
  EXPECT_TRUE(becomes("train", "Ready", "4/4", "AllNodesReady", "", kLate));
  EXPECT_EQ(slots("train").at(on[1]), slot) << "the same node, the same slot";
}

TEST_F(Deletion, OfAllAtOnceLeavesNothing) {
  const auto on = nodes(3);
  settle("train", on);
  kubectl().remove_all("ComputeDomain");
  kubectl().remove_all("Pod");
  EXPECT_TRUE(goes("train"));
}

}  // namespace
}  // namespace cdom::scenarios
