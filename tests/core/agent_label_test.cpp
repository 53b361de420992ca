// The label by which DaemonSets give a Node its agent and its IMEX supervisor.
#include <gmock/gmock.h>

#include "compute_domain/api/names.h"
#include "compute_domain/api/node_labels.h"
#include "compute_domain/core/reconcile.h"

namespace cdom::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A Node with these labels; `agents` is the value of the agent label, "" for none.
AgentLabelWorld labelled(api::Labels labels, const std::string& agents = "") {
  AgentLabelWorld world;
  world.view.node = api::Node{};
  world.view.node->meta.name = "n1";
  world.view.node->meta.labels = std::move(labels);
  if (!agents.empty()) world.view.node->meta.labels[api::kAgentNodeLabel] = agents;
  return world;
}

std::vector<Action> plan_of(const AgentLabelWorld& world) {
  return reconcile_agent_label(world).actions;
}

auto adds_the_label(const AgentLabelWorld& world) {
  return ElementsAre(Action(LabelForAgents{world.view.node->meta, true}));
}
auto removes_the_label(const AgentLabelWorld& world) {
  return ElementsAre(Action(EnsureNodeUnused{"n1"}),
                     Action(LabelForAgents{world.view.node->meta, false}));
}

const api::Labels kGpus{{"nvidia.com/gpu.present", "true"}};

TEST(ReconcileAgentLabel, KnowsEverySpellingOfNodeFeatureDiscovery) {
  for (const char* key : {"nvidia.com/gpu.present", "feature.node.kubernetes.io/pci-10de.present",
                          "feature.node.kubernetes.io/pci-0302_10de.present",
                          "feature.node.kubernetes.io/pci-0300_10de.present",
                          "feature.node.kubernetes.io/pci-0302_10de_2941.present",
                          "feature.node.kubernetes.io/pci-10de_2941.present"}) {
    const AgentLabelWorld world = labelled({{key, "true"}});
    EXPECT_THAT(plan_of(world), adds_the_label(world)) << key;
    EXPECT_THAT(plan_of(labelled({{key, "false"}})), IsEmpty()) << key;
    EXPECT_TRUE(api::is_read_of_nodes(key)) << key;
  }
  const AgentLabelWorld grace =
      labelled({{"feature.node.kubernetes.io/cpu-model.vendor_id", "NVIDIA"}});
  EXPECT_TRUE(api::is_read_of_nodes("feature.node.kubernetes.io/cpu-model.vendor_id"));
  EXPECT_THAT(plan_of(grace), adds_the_label(grace));
}

TEST(ReconcileAgentLabel, LeavesNodesWithoutGpus) {
  for (const char* key :
       {"feature.node.kubernetes.io/pci-0200_10de.present", "kubernetes.io/os",
        "feature.node.kubernetes.io/pci-0300_1002.present",
        "feature.node.kubernetes.io/pci-0302_15b3_10de.present",
        "feature.node.kubernetes.io/pci-.present", "feature.node.kubernetes.io/pci-10de.sriov",
        "feature.node.kubernetes.io/pci-present", "nvidia.com/gpu.count"}) {
    EXPECT_THAT(plan_of(labelled({{key, "true"}})), IsEmpty()) << key;
  }
  AgentLabelWorld world = labelled({});
  world.may_have_claims = true;
  EXPECT_THAT(plan_of(world), IsEmpty());
}

TEST(ReconcileAgentLabel, StaysWhileAClaimMayBeInUse) {
  EXPECT_THAT(plan_of(labelled(kGpus, "detected")), IsEmpty());
  AgentLabelWorld world = labelled({}, "detected");
  world.has_claims = true;
  EXPECT_THAT(plan_of(world), IsEmpty());
  world.has_claims = false;
  world.may_have_claims = true;
  EXPECT_THAT(plan_of(world), IsEmpty());
  world.may_have_claims = false;
  world.view.report = api::ComputeDomainNode{};
  world.view.report->status.groups = {{.group = "g", .claims = {"uid-of-a-claim"}}};
  EXPECT_THAT(plan_of(world), IsEmpty()) << "of a pod that was deleted by force";
  world.view.report->status.groups[0].claims.clear();
  EXPECT_THAT(plan_of(world), removes_the_label(world));
}

TEST(ReconcileAgentLabel, ComesBackForAClaimThatWasAllocatedAsItWent) {
  AgentLabelWorld world = labelled({});
  world.has_claims = true;
  EXPECT_THAT(plan_of(world), adds_the_label(world));
}

TEST(ReconcileAgentLabel, LeavesAPersonsDecision) {
  for (const char* value : {"true", "false"}) {
    EXPECT_THAT(plan_of(labelled(kGpus, value)), IsEmpty()) << value;
    EXPECT_THAT(plan_of(labelled({}, value)), IsEmpty()) << value;
  }
}

TEST(ReconcileAgentLabel, LeavesANodeThatGoes) {
  AgentLabelWorld world = labelled(kGpus);
  world.view.node->meta.deletion_time = base::Time{};
  EXPECT_THAT(plan_of(world), IsEmpty());
  world.view.node.reset();
  EXPECT_THAT(plan_of(world), IsEmpty());
}

TEST(NeedsAgent, WhereTheLabelHasAValueThatTheDaemonSetsSelectBy) {
  for (const char* value : {"detected", "true"}) {
    EXPECT_TRUE(needs_agent(labelled({}, value).view.node->meta)) << value;
  }
  EXPECT_FALSE(needs_agent(labelled(kGpus, "false").view.node->meta));
  EXPECT_FALSE(needs_agent(labelled(kGpus).view.node->meta)) << "not labelled yet";
}

}  // namespace
}  // namespace cdom::core
