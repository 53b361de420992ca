// What a node reports of its own faults, as a user sees it.
#include <gmock/gmock.h>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/sandbox/faults.h"
#include "system/rig.h"

namespace cdom::system_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using namespace std::chrono_literals;

constexpr char kNode[] = "n01";

// "CanServe=RequirementsMet"; of a node without a report nothing.
std::vector<std::string> conditions(const Rig& rig) {
  std::vector<std::string> all;
  const auto report = rig.kubectl().get<api::ComputeDomainNode>({"", kNode});
  if (!report) return all;
  for (const api::Condition& condition : report->status.conditions) {
    all.push_back(condition.type + "=" + condition.reason);
  }
  return all;
}

std::string message_of(const Rig& rig, const std::string& type) {
  const auto report = rig.kubectl().get<api::ComputeDomainNode>({"", kNode});
  const auto* found = report ? api::find_condition(report->status.conditions, type) : nullptr;
  return found == nullptr ? "" : found->message;
}

TEST(NodeFaults, AFabricThatIsNotHealthyIsReportedUntilItIs) {
  Rig rig({.seed = 23, .nodes_per_rack = 2});
  const auto are = [&](const auto& matcher) {
    return rig.run_until([&] { return testing::Matches(matcher)(conditions(rig)); }, 30s);
  };
  const auto well = ElementsAre("CanServe=RequirementsMet");
  ASSERT_TRUE(are(well));
  rig.cluster().inject(kNode, sandbox::Fault::FabricUnhealthy);
  EXPECT_TRUE(are(ElementsAre("CanServe=FabricUnhealthy", "FabricHealth=FabricUnhealthy")));
  EXPECT_EQ(message_of(rig, "FabricHealth"),
            "GPU 0 is unhealthy in its NVLink fabric (route unhealthy): see the rack's NVLink "
            "manager and the kernel log");
  // Of a driver that does not answer what it has said before stands.
  rig.cluster().inject(kNode, sandbox::Fault::FabricError);
  EXPECT_TRUE(are(ElementsAre("CanServe=FabricUnhealthy", "Fabric=FabricUnreadable",
                              "FabricHealth=FabricUnhealthy")));
  rig.cluster().heal(kNode, sandbox::Fault::FabricError);
  rig.cluster().heal(kNode, sandbox::Fault::FabricUnhealthy);
  EXPECT_TRUE(are(well));
}

// Two pods need both nodes, and one of these offers nothing meanwhile.
TEST(NodeFaults, ANodeOfAnUnhealthyFabricTakesNoPods) {
  Rig rig({.seed = 24, .nodes_per_rack = 2});
  rig.cluster().inject(kNode, sandbox::Fault::FabricUnhealthy);
  ASSERT_TRUE(rig.run_until(
      [&] { return testing::Matches(Contains("CanServe=FabricUnhealthy"))(conditions(rig)); },
      30s));
  rig.apply(domain_yaml("train", 2));
  for (const char* pod : {"train-0", "train-1"}) rig.apply(pod_yaml(pod, "train"));
  EXPECT_FALSE(rig.run_until([&] { return rig.is_ready("train"); }, 60s));
  rig.cluster().heal(kNode, sandbox::Fault::FabricUnhealthy);
  EXPECT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 60s));
}

bool has_report(const Rig& rig, const std::string& node) {
  return rig.kubectl().get<api::ComputeDomainNode>({"", node}).has_value();
}

// The pod whose claim is on the node.
std::string pod_on(Rig& rig, const std::string& node) {
  const auto claims = rig.kubectl().list_all<api::ResourceClaim>();
  for (const api::ResourceClaim& claim : *claims) {
    if (claim.allocation && claim.allocation->node == node) return claim.reserved_for.front().name;
  }
  return "";
}

// What the operator writes when an autoscaler takes a node: the pod ends, the machine goes, and its
// Node is deleted.
std::string writes_for_scaled_down(std::uint64_t seed) {
  Rig rig({.seed = seed, .nodes_per_rack = 3});
  rig.apply(domain_yaml("train", 0));
  for (const char* pod : {"train-0", "train-1", "train-2"}) rig.apply(pod_yaml(pod, "train"));
  EXPECT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 60s));
  rig.run_for(5s);
  rig.remove("/api/v1/namespaces/default/pods/" + pod_on(rig, kNode));
  rig.run_for(60s);
  EXPECT_TRUE(rig.is_ready("train"));
  rig.cluster().inject(kNode, sandbox::Fault::PowerOff);
  rig.run_for(5s);
  rig.requests().clear();
  rig.remove(std::string("/api/v1/nodes/") + kNode);
  EXPECT_TRUE(rig.run_until([&] { return !has_report(rig, kNode); }, 60s));
  EXPECT_TRUE(rig.is_ready("train"));
  return rig.requests().summary(is_ours);
}

// The report says what has become of its node, unless the list forgets the node before: the order
// decides, and with it the seed.
TEST(NodeFaults, ANodeThatIsScaledDownLeavesNothingBehindWhileItsDomainLives) {
  EXPECT_EQ(writes_for_scaled_down(24),
            "1 DELETE computedomainnodes 200, 1 PATCH computedomainnodes/status 200, "
            "1 PATCH configmaps 200");
  EXPECT_EQ(writes_for_scaled_down(25), "1 DELETE computedomainnodes 200, 1 PATCH configmaps 200");
}

// Nobody has shown that its daemon ended: the node keeps its slot, and its report says what to do.
TEST(NodeFaults, ANodeThatIsLostKeepsItsReportUntilItIsFenced) {
  Rig rig({.seed = 26, .nodes_per_rack = 3});
  rig.apply(domain_yaml("train", 0));
  for (const char* pod : {"train-0", "train-1", "train-2"}) rig.apply(pod_yaml(pod, "train"));
  ASSERT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 60s));
  rig.run_for(5s);
  rig.cluster().inject(kNode, sandbox::Fault::PowerOff);
  rig.remove("/api/v1/namespaces/default/pods/" + pod_on(rig, kNode), true);
  rig.remove(std::string("/api/v1/nodes/") + kNode);
  rig.run_for(120s);
  EXPECT_TRUE(rig.is_ready("train"));
  auto report = rig.kubectl().get<api::ComputeDomainNode>({"", kNode});
  ASSERT_TRUE(report.has_value());
  ASSERT_TRUE(report->stale);
  EXPECT_THAT(report->stale->message, testing::HasSubstr("fence it"));
  rig.apply(base::cat(
      "apiVersion: resource.nvidia.com/v1beta1\nkind: ComputeDomainNode\n"
      "metadata:\n  name: ",
      kNode, "\n  annotations: {", api::kFencedAnnotation, ": ", report->status.boot_id, "}\n"));
  EXPECT_TRUE(rig.run_until([&] { return !has_report(rig, kNode); }, 60s));
  EXPECT_TRUE(rig.is_ready("train"));
}

// With the stolen token of a node's agent, while the watch of ConfigMaps is a minute late.
TEST(NodeFaults, CliquesThatANodeMakesUpWhileTheListsAreLateMakeFewLists) {
  constexpr std::size_t kNodes = 2, kMostCliquesOfNode = 8;
  Rig rig({.seed = 25, .nodes_per_rack = kNodes});
  rig.apply(domain_yaml("train", kNodes));
  for (std::size_t i = 0; i < kNodes; ++i) {
    rig.apply(pod_yaml(base::cat("train-", i), "train"));
  }
  ASSERT_TRUE(rig.run_until([&] { return rig.is_ready("train"); }, 180s));
  rig.cluster().inject(kNode, sandbox::Fault::AgentCrash);
  sandbox::FaultRule rule{.kind = sandbox::FaultKind::Delay,
                          .user = "*:compute-domain-controller",
                          .verb = "watch",
                          .resource = "configmaps",
                          .delay = 60s};
  rig.faults().add(rule);
  rule.kind = sandbox::FaultKind::CutWatch;
  rule.count = 1;
  rig.faults().add(rule);
  rig.run_for(1s);
  kube::Client thief(rig.administrator(), rig.clock(), "thief");
  ASSERT_TRUE(thief.discover());
  for (int i = 0; i < 100; ++i) {
    const auto report = thief.get<api::ComputeDomainNode>({"", kNode});
    ASSERT_TRUE(report);
    api::ComputeDomainNodeReport said = report->status;
    said.groups.clear();
    said.clique = base::cat("00000000-0000-4000-8000-000000000000.", i);
    ASSERT_TRUE(thief.patch<api::ComputeDomainNode>(
        {"", kNode}, "status", api::status_patch({report->meta.uid, {}}, said)));
    rig.run_for(300ms);
  }
  rig.faults().clear();
  rig.run_for(5min);
  // For each node its cliques, or one list that was late; and the one in which both are.
  EXPECT_LE(rig.node_lists().size(), kMostCliquesOfNode + 1 + 2 * kNodes);
}

}  // namespace
}  // namespace cdom::system_test
