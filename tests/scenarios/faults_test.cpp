// Faults of nodes: each is told by the domain's own line, with the node's name, and heals.
#include <algorithm>

#include "compute_domain/base/text.h"
#include "compute_domain/sandbox/cluster.h"
#include "scenarios/homes/scenario.h"

namespace cdom::scenarios {
namespace {

class Faults : public Scenario {
 protected:
  [[nodiscard]] std::string boot_of_report(const std::string& node) const {
    const auto report = kubectl().client().get<api::ComputeDomainNode>({"", node});
    return report ? report->status.boot_id : "";
  }
  testing::AssertionResult reports_another_boot(const std::string& node,
                                                const std::string& before) {
    return eventually(
        base::cat(node, " reports another boot than ", before),
        [&] {
          const auto object = kubectl().client().get<api::Node>({"", node});
          const std::string reported = boot_of_report(node);
          return object && reported == object->boot_id && reported != before;
        },
        kLate);
  }
  testing::AssertionResult has_started_again(const std::string& pod) {
    return eventually(
        pod + " has started again, once", [&] { return restarts_of(pod) == 1; }, kLate);
  }
};

TEST_F(Faults, ANodeWithoutPowerIsNamedAndComesBack) {
  const auto on = nodes(3);
  settle("train", on);
  const auto before = slots("train");
  const std::string boot = boot_of_report(on[1]);
  fault(on[1], "power-off");
  EXPECT_TRUE(becomes("train", "NotReady", "2/3", "NodeUnknown", on[1], kLate));
  EXPECT_TRUE(tells("ComputeDomain", "train", "NodeUnknown", on[1]));
  const std::string serves = kubectl().ns() + "/train";
  // What the node has said last is not what it is.
  EXPECT_TRUE(node_shows(on[1], {.state = "Unknown", .domains = serves, .message = "kubelet"}));
  EXPECT_TRUE(node_shows(on[0], {.state = "Ready", .domains = serves, .unreachable = on[1]}));
  home().restart_controller();
  EXPECT_TRUE(node_shows(on[1], {.state = "Unknown", .domains = serves, .message = "kubelet"}));
  heal(on[1]);
  EXPECT_TRUE(becomes("train", "Ready", "3/3", "AllNodesReady", "", kLate));
  EXPECT_TRUE(node_shows(on[1], {.state = "Ready", .domains = serves}));
  EXPECT_EQ(slots("train"), before);
  EXPECT_TRUE(reports_another_boot(on[1], boot));
  EXPECT_TRUE(has_started_again("train-1"));
  EXPECT_TRUE(sees_only_channel(0, "train-1"));
  for (const char* pod : {"train-0", "train-2"}) EXPECT_EQ(restarts_of(pod), 0) << pod;
}

// With the controllers, where these run on nodes.
class PowerCut : public Faults {};

TEST_F(PowerCut, OfAllNodesAtOnceLeavesADomainItsSlots) {
  const auto on = nodes(3);
  settle("train", on);
  const auto before = slots("train");
  std::map<std::string, std::string> boots;
  const auto all_nodes = kubectl().client().list_all<api::Node>();
  ASSERT_TRUE(all_nodes);
  for (const api::Node& node : *all_nodes) {
    boots[node.meta.name] = node.boot_id;
    fault(node.meta.name, "power-off");
  }
  EXPECT_TRUE(eventually(
      "no node is Ready",
      [&] {
        const auto now = kubectl().client().list_all<api::Node>();
        return now && std::ranges::none_of(*now, [](const api::Node& node) {
                 return node.ready == api::ConditionStatus::True;
               });
      },
      kLate));
  for (const auto& [node, boot] : boots) heal(node);
  for (const std::string& node : on) EXPECT_TRUE(reports_another_boot(node, boots.at(node)));
  for (const char* pod : {"train-0", "train-1", "train-2"}) {
    EXPECT_TRUE(has_started_again(pod));
    EXPECT_TRUE(sees_only_channel(0, pod, kLate));
  }
  EXPECT_TRUE(becomes("train", "Ready", "3/3", "AllNodesReady", "", kLate));
  EXPECT_EQ(slots("train"), before);
}

// A Pod's annotation means its node.
TEST_F(Faults, AnImexDaemonThatHangsIsNamedAndComesBack) {
  const auto on = nodes(3);
  settle("train", on);
  kubectl().annotate("Pod", "train-0", sandbox::kFaultAnnotation, "imex-hang");
  EXPECT_TRUE(becomes("train", "NotReady", "2/3", "ImexFailed", on[0]));
  EXPECT_TRUE(tells("ComputeDomain", "train", "ImexFailed", on[0]));
  kubectl().annotate("Pod", "train-0", sandbox::kFaultAnnotation, std::nullopt);
  EXPECT_TRUE(becomes("train", "Ready", "3/3", "AllNodesReady", "", kLate));
}

TEST_F(Faults, OfADaemonThatDoesNotRunYetStrikeTheNextOne) {
  const auto on = nodes(3);
  fault(on[0], "imex-hang");
  form("train", 3, on);
  EXPECT_TRUE(becomes("train", "NotReady", "2/3", "Starting", on[0], kLate));
  heal(on[0]);
  EXPECT_TRUE(becomes("train", "Ready", "3/3", "AllNodesReady", "", kLate));
}

// Also when it is back in a quarter of a second: what ran over it is lost.
TEST_F(Faults, AnImexDaemonThatIsKilledIsToldAndComesBack) {
  const auto on = nodes(3);
  settle("train", on);
  fault(on[0], "imex-kill");
  EXPECT_TRUE(tells("ComputeDomain", "train", "ImexFailed", on[0]));
  EXPECT_TRUE(becomes("train", "Ready", "3/3", "AllNodesReady", "", kLate));
  // Whoever looks later sees that the workload has to start again.
  EXPECT_TRUE(eventually("the status tells the restart and how it failed", [&] {
    const auto status = domain("train").status;
    return status && status->ready &&
           std::ranges::all_of(status->nodes, [&](const api::ComputeDomainNodeStatus& node) {
             const bool has_failed = node.name == on[0];
             return node.restarts == (has_failed ? 1 : 0) &&
                    node.last_failure.has_value() == has_failed;
           });
  }));
}

TEST_F(Faults, AnImexDaemonThatIsKilledAgainAndAgainIsMostlyNotReady) {
  const auto on = nodes(2);
  settle("train", on);
  for (int i = 0; i < 6; ++i) {
    fault(on[0], "imex-kill");
    EXPECT_TRUE(becomes("train", "NotReady", "1/2", "ImexFailed", on[0]));
    heal(on[0]);
    if (i < 5) {
      EXPECT_TRUE(becomes("train", "Ready", "2/2", "AllNodesReady"));
    }
  }
  EXPECT_TRUE(stays("train", "NotReady", "1/2", 5s)) << "it starts again ever later";
  EXPECT_TRUE(becomes("train", "Ready", "2/2", "AllNodesReady"));
}

TEST_F(Faults, MembersThatCannotBeReachedAreNamedAndHeal) {
  const auto on = nodes(4);
  settle("train", on);
  fault(on[1], "partition");
  fault(on[2], "partition");
  EXPECT_TRUE(becomes("train", "NotReady", "2/4", "Unreachable", base::cat(on[1], ", ", on[2])));
  EXPECT_TRUE(tells("ComputeDomain", "train", "Unreachable", "cannot reach its IMEX daemon"));
  heal(on[1]);
  heal(on[2]);
  EXPECT_TRUE(becomes("train", "Ready", "4/4", "AllNodesReady", "", kLate));
}

// A switch between the racks' management network and the nodes that loses some ports.
TEST_F(Faults, AMemberWhoseImexDaemonAloneIsCutOffIsNamedAndHeals) {
  const auto on = nodes(3);
  settle("train", on);
  fault(on[1], "imex-cut");
  EXPECT_TRUE(becomes("train", "NotReady", "2/3", "Unreachable", on[1]));
  heal(on[1]);
  EXPECT_TRUE(becomes("train", "Ready", "3/3", "AllNodesReady", "", kLate));
}

// The network between two halves of a domain: each half is connected in itself.
TEST_F(Faults, OfTheNetworkBetweenTwoHalvesNameAllMembersAndHeal) {
  const auto on = nodes(4);
  settle("train", on);
  fault(on[0], "imex-split");
  fault(on[1], "imex-split");
  EXPECT_TRUE(becomes("train", "NotReady", "0/4", "Unreachable", base::join(on, ", ")));
  heal(on[0]);
  heal(on[1]);
  EXPECT_TRUE(becomes("train", "Ready", "4/4", "AllNodesReady", "", kLate));
}

TEST_F(Faults, AnAgentThatIsGoneForAMinuteIsToldAndItsDaemonRunsOn) {
  const auto on = nodes(2);
  settle("train", on);
  const auto instance = [&] { return node_list("train").entries.at(0).instance; };
  const std::string before = instance(), daemons = daemons_on(on);
  fault(on[0], "agent-crash");
  EXPECT_TRUE(becomes("train", "NotReady", "1/2", "AgentUnknown", on[0], kLate));
  heal(on[0]);
  EXPECT_TRUE(becomes("train", "Ready", "2/2", "AllNodesReady"));
  EXPECT_EQ(instance(), before);
  EXPECT_EQ(daemons_on(on), daemons);
}

TEST_F(Faults, OfTheWayToTheApiServerDelayAndBreakNothing) {
  const auto on = nodes(3);
  fault(on[0], "slow-api");
  settle("train", {on[0], on[1]});
  fault(on[1], "watch-cut");
  fault(on[2], "watch-cut");
  kubectl().apply(pod_yaml("train-2", "train-channel", on[2]));
  EXPECT_TRUE(becomes("train", "Ready", "3/3", "AllNodesReady"));
}

TEST_F(Faults, OfOneDomainDoNotTouchTheOther) {
  const auto on = nodes(4);
  settle("left", {on[0], on[1]});
  settle("right", {on[2], on[3]});
  const auto version = [&] {
    return domain("right").meta.resource_version + " " +
           node_list_map("right").meta.resource_version;
  };
  const std::string before = version();
  fault(on[0], "imex-hang");
  EXPECT_TRUE(becomes("left", "NotReady", "1/2", "ImexFailed", on[0]));
  heal(on[0]);
  EXPECT_TRUE(becomes("left", "Ready", "2/2", "AllNodesReady", "", kLate));
  kubectl().remove("Pod", "left-0");
  kubectl().remove("Pod", "left-1");
  kubectl().remove("ComputeDomain", "left");
  EXPECT_TRUE(goes("left"));
  EXPECT_EQ(version(), before);
}

}  // namespace
}  // namespace cdom::scenarios
