// Which keys a change brings.
#include "controller/triggers.h"

#include <gmock/gmock.h>

#include <utility>

#include "controller/shell_rig.h"

namespace cdom::controller {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

api::ComputeDomain placed(const std::string& name) {
  api::ComputeDomain domain = domain_named(name);
  domain.spec.placement = api::ComputeDomainPlacement{.clique = api::CliquePlacement::Single};
  return domain;
}

TEST(Triggers, ANodeThatChangesBringsTheDomainsThatAreThere) {
  ShellRig rig;
  rig.put(domain_named("train"));
  rig.put(node_named("n1"));
  rig.put(claim_of("uid-train", "c", "n1"));
  rig.taken_keys();
  api::Node node = node_named("n1");
  node.meta.resource_version = "2";
  rig.put(node);
  EXPECT_THAT(rig.taken_keys(), IsEmpty()) << "a heartbeat";
  node.ready = api::ConditionStatus::Unknown;
  rig.put(node);
  EXPECT_THAT(rig.taken_keys(), Contains(domain_key("uid-train")));
  node.boot_id = "another";
  rig.put(node);
  EXPECT_THAT(rig.taken_keys(), Contains(domain_key("uid-train")));
}

TEST(Triggers, ANodeWhoseCliqueIsConfirmedBringsTheClique) {
  ShellRig rig;
  api::ComputeDomainNode report = report_of("n1");
  report.status.isolation = api::Isolation::Channel;
  report.status.clique = "a.1";
  rig.put(report);
  api::Node node = node_named("n1");
  node.meta.labels[api::kNodeCliqueLabel] = node.meta.annotations[api::kNodeCliqueMark] = "a.1";
  rig.put(node);
  rig.taken_keys();
  node.meta.annotations.clear();
  rig.put(node);
  EXPECT_THAT(rig.taken_keys(), Contains(clique_key("a.1")));
}

TEST(Triggers, ALabelBringsTheSlicesOfBothItsCliques) {
  ShellRig rig;
  rig.settings.shares_claims = true;
  api::Node node = node_named("n1");
  node.meta.labels[api::kNodeCliqueLabel] = "a.1";
  rig.put(node);
  EXPECT_THAT(rig.taken_keys(), Contains(shared_slice_key("a.1")));
  node.meta.labels[api::kNodeCliqueLabel] = "b.2";
  rig.put(node);
  const std::set<Key> keys = rig.taken_keys();
  EXPECT_THAT(keys, Contains(shared_slice_key("a.1")));
  EXPECT_THAT(keys, Contains(shared_slice_key("b.2")));
  rig.remove<api::Node>({"", "n1"});
  EXPECT_THAT(rig.taken_keys(), Contains(shared_slice_key("b.2")));
}

TEST(Triggers, AMemberThatChangesBringsTheCliquesOfItsDomainWhereTheyAreFilled) {
  ShellRig rig;
  api::ComputeDomain train = domain_named("train");
  rig.put(train);
  const Key key = clique_objects_key("uid-train");
  EXPECT_THAT(rig.taken_keys(), Not(Contains(key)));
  rig.settings.fills_cliques = true;
  train.status.emplace().nodes.emplace_back().name = "n1";
  rig.put(train);
  EXPECT_THAT(rig.taken_keys(), Contains(key));
  train.status->ready_nodes = "0/1";
  rig.put(train);
  EXPECT_THAT(rig.taken_keys(), Not(Contains(key))) << "the same members";
  train.status->nodes.front().ready = true;
  rig.put(train);
  EXPECT_THAT(rig.taken_keys(), Contains(key));
  rig.remove<api::ComputeDomain>({"team-a", "train"});
  EXPECT_THAT(rig.taken_keys(), Contains(key));
}

TEST(Triggers, AComputeDomainCliqueBringsTheDomainInItsName) {
  ShellRig rig;
  rig.settings.fills_cliques = true;
  auto object = object_named<api::ComputeDomainClique>("uid-train.a.1", "compute-domain-operator");
  rig.put(object);
  EXPECT_THAT(rig.taken_keys(), ElementsAre(clique_objects_key("uid-train")));
  rig.memory.object_reported(object.meta.uid);
  rig.remove<api::ComputeDomainClique>(api::name_of(object.meta));
  EXPECT_THAT(rig.taken_keys(), ElementsAre(clique_objects_key("uid-train")));
  EXPECT_FALSE(rig.memory.is_reported(object.meta.uid));
  rig.put(object_named<api::ComputeDomainClique>("nameless", "compute-domain-operator"));
  EXPECT_THAT(rig.taken_keys(), IsEmpty());
}

TEST(Triggers, ANodeThatIsGoneBringsItsReport) {
  ShellRig rig;
  rig.put(node_named("n1"));
  rig.put(report_of("n1"));
  rig.taken_keys();
  rig.remove<api::Node>({"", "n1"});
  EXPECT_THAT(rig.taken_keys(), Contains(report_key("n1")));
}

TEST(Triggers, ANodeThatIsSilentAndItsAgentBringItsReport) {
  ShellRig rig;
  rig.put(node_named("n1"));
  rig.put(report_of("n1"));
  rig.taken_keys();
  api::Node node = node_named("n1");
  node.ready = api::ConditionStatus::Unknown;
  rig.put(node);
  EXPECT_THAT(rig.taken_keys(), Contains(report_key("n1")));
  auto agent = object_named<api::Pod>("agent-n1");
  agent.node = "n1";
  rig.put(agent);
  EXPECT_THAT(rig.taken_keys(), Contains(report_key("n1")));
}

TEST(Triggers, AnAgentThatDiesAndOneThatComesBringTheDomainsOfItsNode) {
  ShellRig rig;
  rig.put(domain_named("train"));
  rig.put(node_named("n1"));
  rig.put(claim_of("uid-train", "c", "n1"));
  auto agent = object_named<api::Pod>("agent-n1");
  agent.node = "n1";
  for (const bool ready : {true, false, true}) {
    rig.taken_keys();
    agent.ready = ready;
    rig.put(agent);
    EXPECT_THAT(rig.taken_keys(), Contains(domain_key("uid-train"))) << ready;
    rig.put(agent);
    EXPECT_THAT(rig.taken_keys(), IsEmpty()) << "that is known";
  }
}

TEST(Triggers, AReportBringsItselfWhenItIsAnothersWordWhetherItCanBeBelieved) {
  ShellRig rig;
  rig.put(node_named("n1"));
  api::ComputeDomainNode report = report_of("n1");
  rig.put(report);
  EXPECT_THAT(rig.taken_keys(), Contains(report_key("n1")));
  report.status.address = "10.0.0.1";
  rig.put(report);
  EXPECT_THAT(rig.taken_keys(), Not(Contains(report_key("n1"))));
  report.stale = api::Staleness{.reason = "NodeUnknown", .message = {}, .since = {}};
  rig.put(report);
  EXPECT_THAT(rig.taken_keys(), ElementsAre(report_key("n1"))) << "and no domain";
  report.status.boot_id = "another-boot";
  rig.put(report);
  EXPECT_THAT(rig.taken_keys(), Contains(report_key("n1")));
}

TEST(Triggers, AReportOfANodeThatIsGoneBringsItself) {
  ShellRig rig;
  api::ComputeDomainNode report = report_of("n1");
  rig.put(report);
  EXPECT_THAT(rig.taken_keys(), Contains(report_key("n1")));
  report.status.address = "10.0.0.1";
  rig.put(report);
  EXPECT_THAT(rig.taken_keys(), Contains(report_key("n1")))
      << "also when it is as credible as before";
}

TEST(Triggers, AListThatANodeHasLeftBringsTheReportOfOneThatIsGone) {
  ShellRig rig;
  const api::ComputeDomain train = domain_named("train");
  rig.put(train);
  rig.put(node_named("n1"));
  for (const char* node : {"n1", "n2", "n3"}) rig.put(report_of(node));
  rig.put(node_list_of(train, "a.1", {"n1", "n2", "n3"}));
  rig.taken_keys();
  rig.put(node_list_of(train, "a.1", {"n3"}));
  std::set<Key> keys = rig.taken_keys();
  EXPECT_THAT(keys, Contains(report_key("n2")));
  EXPECT_THAT(keys, Not(Contains(report_key("n1")))) << "its Node is there";
  EXPECT_THAT(keys, Not(Contains(report_key("n3")))) << "it is in the list";
  rig.remove<api::ConfigMap>(api::name_of(node_list_of(train, "a.1", {}).meta));
  EXPECT_THAT(rig.taken_keys(), Contains(report_key("n3")));
}

TEST(Triggers, ACliquesListThatComesOrGoesBringsTheDeletionsWithSlotsInIt) {
  ShellRig rig;
  for (const auto& [name, clique] : {std::pair("gone", "a.1"), std::pair("elsewhere", "b.1")}) {
    api::ComputeDomain domain = domain_named(name);
    domain.meta.deletion_time = base::Time{};
    domain.status.emplace().nodes = {{.name = "n1", .clique = clique, .index = 0, .channel = 1}};
    rig.put(domain);
  }
  rig.taken_keys();
  const api::ConfigMap list = core::config_map_of(
      {.group = core::group_id({"", "a.1"}), .clique = "a.1", .slots = 18}, core::Settings{});
  rig.put(list);
  std::set<Key> keys = rig.taken_keys();
  EXPECT_THAT(keys, Contains(domain_key("uid-gone")));
  EXPECT_THAT(keys, Not(Contains(domain_key("uid-elsewhere"))));
  rig.remove<api::ConfigMap>(api::name_of(list.meta));
  keys = rig.taken_keys();
  EXPECT_THAT(keys, Contains(domain_key("uid-gone")));
  EXPECT_THAT(keys, Not(Contains(domain_key("uid-elsewhere"))));
}

TEST(Triggers, ACliqueThatHasAChannelAgainOrNoMoreBringsTheDomainsWithoutOne) {
  ShellRig rig;
  rig.settings.channels = 3;
  rig.put(domain_named("waits"));
  rig.put(claim_of("uid-waits", "c", "n1"));
  rig.put(claim_of("uid-elsewhere", "d", "n2"));
  api::NodeList list{.group = core::group_id({"", "a.1"}), .clique = "a.1", .slots = 18};
  list.entries = {{.node = "n1", .slot = 0}};
  const auto bring_with = [&](std::initializer_list<std::int64_t> numbers) {
    list.channels.clear();
    for (const std::int64_t number : numbers) {
      list.channels.push_back({.number = number, .domain_uid = "uid-other"});
    }
    rig.put(core::config_map_of(list, rig.settings));
    return rig.taken_keys();
  };
  bring_with({1});
  EXPECT_THAT(bring_with({1, 2}), Contains(domain_key("uid-waits")));
  const std::set<Key> keys = bring_with({2});
  EXPECT_THAT(keys, Contains(domain_key("uid-waits")));
  EXPECT_THAT(keys, Not(Contains(domain_key("uid-elsewhere"))));
  EXPECT_THAT(bring_with({}), Not(Contains(domain_key("uid-waits")))) << "there was one before";
}

TEST(Triggers, ATemplateThatIsDeletedBringsItsDomain) {
  ShellRig rig;
  rig.put(domain_named("train"));
  rig.put(object_named<api::ResourceClaimTemplate>("train-channel"));
  rig.taken_keys();
  rig.remove<api::ResourceClaimTemplate>({"team-a", "train-channel"});
  EXPECT_THAT(rig.taken_keys(), ElementsAre(domain_key("uid-train")));
}

TEST(Triggers, ATemplateOfAnotherNamespaceBringsNoDomain) {
  ShellRig rig;
  rig.put(domain_named("train"));
  rig.taken_keys();
  auto object = object_named<api::ResourceClaimTemplate>("mine", "team-b");
  object.meta.labels = {{api::kDomainLabel, "uid-train"}};
  object.meta.owners = {
      {"resource.nvidia.com/v1beta1", "ComputeDomain", "train", "uid-train", true}};
  rig.put(object);
  EXPECT_THAT(rig.taken_keys(), IsEmpty());
  rig.settings.adopt_from = {"team-b"};
  object.meta.resource_version = "2";
  rig.put(object);
  EXPECT_THAT(rig.taken_keys(), Contains(domain_key("uid-train")));
}

TEST(Triggers, AClaimThatIsGoneIsForgottenWithItsEvents) {
  ShellRig rig;
  rig.put(claim_of("uid-train", "c", "n1"));
  rig.memory.object_reported("uid-c");
  rig.remove<api::ResourceClaim>({"team-a", "c"});
  EXPECT_FALSE(rig.memory.is_reported("uid-c"));
}

// Its deletion may have been seen between the decision and the Event.
TEST(Triggers, AClaimThatWasGoneBeforeItsEventIsForgotten) {
  ShellRig rig;
  const core::RecordEvent event = core::event_on(
      {"resource.k8s.io/v1", "ResourceClaim", "team-a", "c", "uid-c"}, "InvalidConfig", "hello");
  rig.put(claim_of("uid-train", "c", "n1"));
  rig.memory.object_reported("uid-c");
  rig.triggers.on_recorded(event);
  EXPECT_TRUE(rig.memory.is_reported("uid-c"));
  rig.remove<api::ResourceClaim>({"team-a", "c"});
  rig.memory.object_reported("uid-c");
  rig.triggers.on_recorded(event);
  EXPECT_FALSE(rig.memory.is_reported("uid-c"));
}

TEST(Triggers, AClaimWhoseNameWasMadeAgainIsForgottenWithItsEvents) {
  ShellRig rig;
  api::ResourceClaim claim = claim_of("uid-train", "c", "n1");
  rig.put(claim);
  rig.memory.object_reported("uid-c");
  claim.meta.uid = "another";
  rig.put(claim);
  EXPECT_FALSE(rig.memory.is_reported("uid-c"));
  rig.memory.object_reported("uid-c");
  rig.triggers.on_recorded(core::event_on(
      {"resource.k8s.io/v1", "ResourceClaim", "team-a", "c", "uid-c"}, "InvalidConfig", "hello"));
  EXPECT_FALSE(rig.memory.is_reported("uid-c"));
}

TEST(Triggers, AClaimWhoseNameWasMadeAgainIsNoWorkloadsAnyMore) {
  ShellRig rig;
  api::ResourceClaim claim = claim_of("", "c", "n1");
  claim.meta.owners = {{"v1", "Pod", "p", "uid-p", true}};
  rig.put(claim);
  ASSERT_TRUE(rig.workloads.has_unknown_claims("team-a"));
  claim.meta.uid = "another";
  claim.meta.owners.clear();
  rig.put(claim);
  rig.remove<api::ResourceClaim>({"team-a", "c"});
  EXPECT_FALSE(rig.workloads.has_unknown_claims("team-a"));
}

// What a worker that comes at once finds must not hold the domain any longer.
TEST(Triggers, AnAutomaticClaimThatIsGoneIsForgottenBeforeItsKeysCome) {
  ShellRig rig;
  bool was_known = false;
  const Triggers triggers(rig.sources, rig.memory, rig.workloads, [&](const Key&) {
    was_known = was_known || rig.workloads.has_unknown_claims("team-a");
  });
  api::ComputeDomain domain = domain_named("auto");
  domain.spec.workload = api::Workload{.kind = "Job", .name = "j", .uid = "uid-j"};
  rig.put(domain);
  api::ResourceClaim claim = claim_of("", "c", "n1");
  claim.meta.owners = {{"v1", "Pod", "p", "uid-p", true}};
  rig.put(claim);
  ASSERT_TRUE(rig.workloads.has_unknown_claims("team-a"));
  rig.filled.of<api::ResourceClaim>().remove({"team-a", "c"});
  triggers.on_change(&claim, nullptr);
  EXPECT_FALSE(was_known);
}

TEST(Triggers, ASharedClaimsPodThatLeavesItsNodeBringsThePlacement) {
  ShellRig rig;
  rig.put(placed("waits"));
  rig.put(claim_of("uid-train", "mesh", "", {"a", "b"}));
  rig.taken_keys();
  rig.workloads.pods_read("team-a", {facts_of_pod("n1", "a"), facts_of_pod("n2", "b")}, true, {});
  rig.triggers.on_pods_read("team-a");
  EXPECT_THAT(rig.taken_keys(), Contains(placement_key())) << "the nodes are known";
  rig.put(claim_of("uid-train", "mesh", "", {"a"}));
  EXPECT_THAT(rig.taken_keys(), Contains(placement_key())) << "n2 has its seat back";
}

TEST(Triggers, ANodesCliqueBringsWhatASharedClaimHasThere) {
  ShellRig rig;
  rig.put(placed("waits"));
  rig.put(node_named("n1"));
  rig.put(claim_of("uid-train", "mesh", "", {"a"}));
  rig.workloads.pods_read("team-a", {facts_of_pod("n1", "a")}, true, {});
  EXPECT_THAT(claims_on(rig.sources, "n1"), IsEmpty()) << "its clique is not known";
  for (const char* clique : {kSharedIn, "u.2"}) {
    rig.taken_keys();
    rig.put(report_of("n1", clique));
    const std::set<Key> keys = rig.taken_keys();
    EXPECT_THAT(keys, Contains(domain_key("uid-train"))) << clique;
    EXPECT_THAT(keys, Contains(placement_key())) << clique;
    EXPECT_THAT(keys, Contains(agent_label_key("n1"))) << clique;
    EXPECT_EQ(claims_on(rig.sources, "n1").size(), clique == kSharedIn ? 1U : 0U);
  }
}

// Of one without a label and without the labels of its GPUs nothing else brings it.
TEST(Triggers, ASharedClaimsPodBringsTheLabelOfItsNode) {
  ShellRig rig;
  for (const char* name : {"n1", "n2"}) rig.put(node_named(name));
  rig.put(claim_of("uid-train", "mesh", "", {"a"}));
  rig.taken_keys();
  rig.workloads.pods_read("team-a", {facts_of_pod("n1", "a"), facts_of_pod("n2", "b")}, true, {});
  rig.triggers.on_pods_read("team-a");
  std::set<Key> keys = rig.taken_keys();
  EXPECT_THAT(keys, Contains(agent_label_key("n1")));
  EXPECT_THAT(keys, Not(Contains(agent_label_key("n2"))));
  rig.put(claim_of("uid-train", "mesh", "", {"a", "b"}));
  keys = rig.taken_keys();
  EXPECT_THAT(keys, Contains(agent_label_key("n2"))) << "the last read has shown its pod";
  EXPECT_THAT(keys, Not(Contains(agent_label_key("n1")))) << "nothing new is there";
}

TEST(Triggers, ASharedClaimThatIsGoneGivesTheSeatsOfItsPodsBackAndBringsThePlacement) {
  ShellRig rig;
  rig.put(placed("waits"));
  rig.put(claim_of("uid-train", "mesh", "", {"a"}));
  rig.workloads.pods_read("team-a", {facts_of_pod("n1", "a")}, true, {});
  ASSERT_THAT(rig.workloads.shared_on("n1"), ElementsAre(api::ObjectName{"team-a", "mesh"}));
  rig.taken_keys();
  rig.remove<api::ResourceClaim>({"team-a", "mesh"});
  EXPECT_THAT(rig.workloads.shared_on("n1"), IsEmpty());
  EXPECT_THAT(rig.taken_keys(), Contains(placement_key()));
}

TEST(Triggers, ASharedClaimThatIsGoneBringsTheLabelsThatMayGoWithIt) {
  ShellRig rig;
  api::Node labelled = node_named("n1");
  labelled.meta.labels[api::kAgentNodeLabel] = api::kAgentNodeDetected;
  rig.put(labelled);
  rig.put(node_named("n2"));
  rig.put(claim_of("uid-train", "mesh", "", {"a"}));
  EXPECT_TRUE(gather_agent_label(rig.sources, "n1").may_have_claims);
  rig.taken_keys();
  rig.remove<api::ResourceClaim>({"team-a", "mesh"});
  const std::set<Key> keys = rig.taken_keys();
  EXPECT_THAT(keys, Contains(agent_label_key("n1")));
  EXPECT_THAT(keys, Not(Contains(agent_label_key("n2")))) << "it has none to lose";
  EXPECT_FALSE(gather_agent_label(rig.sources, "n1").may_have_claims);
}

TEST(Triggers, AClaimThatTakesOrGivesBackASeatBringsThePlacement) {
  ShellRig rig;
  rig.put(placed("waits"));
  rig.taken_keys();
  rig.put(claim_of("uid-train", "c", "n1"));
  EXPECT_THAT(rig.taken_keys(), Contains(placement_key()));
  rig.remove<api::ResourceClaim>({"team-a", "c"});
  EXPECT_THAT(rig.taken_keys(), Contains(placement_key()));
}

TEST(Triggers, ANodeThatOffersNoSeatForAnotherReasonBringsTheDomainsThatWaitForOne) {
  ShellRig rig;
  api::ComputeDomain waits = domain_named("waits");
  waits.status = api::ComputeDomainStatus{};
  waits.status->conditions = {{.type = "Ready", .message = "claim c has no seat yet"}};
  rig.put(waits);
  rig.put(domain_named("other"));
  rig.put(node_named("n1"));
  api::ComputeDomainNode report = report_of("n1");
  rig.put(report);
  rig.taken_keys();
  report.status.conditions = {{.type = api::kConditionCanServe,
                               .status = api::ConditionStatus::False,
                               .reason = "DriverTooOld",
                               .message = "535"}};
  report.meta.resource_version = "2";
  rig.put(report);
  EXPECT_EQ(gather_domain(rig.sources, "uid-waits").seats, std::nullopt) << "no claim waits";
  EXPECT_EQ(count_seats(rig.sources).lacking,
            (std::map<std::string, std::vector<std::string>>{{"DriverTooOld", {"n1"}}}));
  const auto keys = rig.taken_keys();
  EXPECT_THAT(keys, Contains(domain_key("uid-waits")));
  EXPECT_THAT(keys, Not(Contains(domain_key("uid-other"))));
  report.status.conditions.front().message = "536";
  report.meta.resource_version = "3";
  rig.put(report);
  EXPECT_THAT(rig.taken_keys(), Not(Contains(domain_key("uid-waits")))) << "the same reason";
}

TEST(Triggers, ANodeThatIsCordonedBringsTheDomainsThatWaitForASeat) {
  ShellRig rig;
  api::ComputeDomain waits = domain_named("waits");
  waits.status = api::ComputeDomainStatus{};
  waits.status->conditions = {{.type = "Ready", .message = "claim c has no seat yet"}};
  rig.put(waits);
  api::Node node = node_named("n1");
  rig.put(node);
  rig.taken_keys();
  node.taints = {{.key = api::kUnschedulableTaint, .value = "", .effect = "NoSchedule"}};
  node.meta.resource_version = "2";
  rig.put(node);
  EXPECT_THAT(rig.taken_keys(), Contains(domain_key("uid-waits")));
  node.meta.resource_version = "3";
  rig.put(node);
  EXPECT_THAT(rig.taken_keys(), Not(Contains(domain_key("uid-waits")))) << "a heartbeat";
}

TEST(Triggers, ANodeWhoseDeletionIsHeldBringsThePlacement) {
  ShellRig rig;
  rig.put(placed("waits"));
  api::Node node = node_named("n1");
  rig.put(node);
  rig.taken_keys();
  node.meta.deletion_time = base::Time{};
  rig.put(node);
  EXPECT_THAT(rig.taken_keys(), Contains(placement_key())) << "its seat is free no more";
}

TEST(Triggers, ANodeThatIsMadeAgainBringsItsLabels) {
  ShellRig rig;
  rig.settings.labels_nodes = true;
  api::Node node = node_named("n1");
  node.meta.deletion_time = base::Time{};
  rig.put(node);
  rig.taken_keys();
  node = node_named("n1");
  node.meta.uid = "another";
  rig.put(node);
  const std::set<Key> keys = rig.taken_keys();
  EXPECT_THAT(keys, Contains(agent_label_key("n1"))) << "one that is being deleted got none";
  EXPECT_THAT(keys, Contains(label_key("n1")));
}

TEST(Triggers, AnIdThatIsNoUidConcernsItsOwnNamespaceOnly) {
  ShellRig rig;
  rig.put(claim_of("namespace:team-b", "c", "n1"));
  EXPECT_THAT(rig.taken_keys(), Contains(workloads_key("team-a")));
  EXPECT_THAT(rig.stores.claims.by_index(kByDomain, "namespace:team-b"), IsEmpty());
  EXPECT_THAT(gather_workloads(rig.sources, "team-b").claims, IsEmpty());
  EXPECT_THAT(gather_workloads(rig.sources, "team-a").claims, testing::SizeIs(1));
}

// Anybody may write the label by which an automatic domain is known.
TEST(Triggers, ADomainHasAutomaticClaimsOfItsOwnNamespaceOnly) {
  ShellRig rig;
  api::ResourceClaim claim = claim_of("", "c", "n1");
  rig.put(claim);
  const auto workload = rig.workloads.workload_of("uid-c");
  ASSERT_TRUE(workload);
  for (const char* ns : {"team-a", "team-b"}) {
    api::ComputeDomain domain = domain_named(base::cat("of-", ns), ns);
    domain.spec.workload = api::Workload{.kind = "ResourceClaim", .name = "c", .uid = "uid-c"};
    domain.meta.labels = {{api::kWorkloadLabel, *workload}};
    rig.put(domain);
  }
  EXPECT_THAT(gather_domain(rig.sources, "uid-of-team-a").view.claims, testing::SizeIs(1));
  EXPECT_THAT(gather_domain(rig.sources, "uid-of-team-b").view.claims, IsEmpty());
  rig.taken_keys();
  claim.meta.resource_version = "2";
  rig.put(claim);
  EXPECT_THAT(rig.taken_keys(), Not(Contains(domain_key("uid-of-team-b"))));
}

// It is found by its label, which anybody may take.
TEST(Triggers, ANamespaceWaitsToSeeThatTheLabelOfItsDomainIsBack) {
  ShellRig rig;
  api::ComputeDomain domain = domain_named("auto");
  domain.spec.workload = api::Workload{.kind = "Job", .name = "j", .uid = "uid-j"};
  domain.meta.labels = {{api::kWorkloadLabel, "id"}};
  rig.put(domain);
  rig.taken_keys();
  rig.put(domain);
  EXPECT_THAT(rig.taken_keys(), Not(Contains(workloads_key("team-a"))));
  for (const char* label : {"another", "id"}) {
    domain.meta.labels = {{api::kWorkloadLabel, label}};
    rig.put(domain);
    EXPECT_THAT(rig.taken_keys(), Contains(workloads_key("team-a"))) << label;
  }
}

// A worker that comes at once finds it, and what it finds out is kept.
TEST(Triggers, ADomainIsSeenBeforeItsKeysCome) {
  ShellRig rig;
  const Triggers triggers(rig.sources, rig.memory, rig.workloads, [&](const Key& key) {
    if (key == placement_key()) (void)rig.memory.placement_found("uid-train", {});
  });
  api::ComputeDomain domain = domain_named("train");
  domain.spec.placement = api::ComputeDomainPlacement{.clique = api::CliquePlacement::Single};
  const auto change = rig.filled.of<api::ComputeDomain>().put(domain);
  triggers.on_change(change.before.get(), change.after.get());
  EXPECT_TRUE(rig.memory.placement("uid-train"));
}

TEST(Triggers, AClaimThatTurnsOutToBeOfAnotherDriverIsForgotten) {
  ShellRig rig;
  auto claim = object_named<api::ResourceClaim>("c");
  claim.meta.owners = {{"v1", "Pod", "p", "uid-p", true}};
  claim.spec.requests = {{.name = "gpu", .device_class = "gpu.nvidia.com", .selectors = {}}};
  claim.spec.configs = {
      {.requests = {},
       .driver = api::kDriver,
       .parameters =
           R"({"apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomainConfig"})"}};
  rig.put(claim);
  ASSERT_TRUE(rig.workloads.has_unknown_claims(claim.meta.ns));
  claim.allocation.emplace().node = "n1";
  claim.allocation->devices = {
      {.request = "gpu", .driver = "gpu.nvidia.com", .pool = "n1", .device = "gpu-0"}};
  rig.put(claim);
  EXPECT_FALSE(rig.workloads.has_unknown_claims(claim.meta.ns));
}

// Another controller has led meanwhile: this one would count a formation that lasts until it leads.
TEST(Triggers, ADomainThatIsShownReadyIsNotFormingAnyMore) {
  ShellRig rig;
  api::ComputeDomain domain = domain_named("train");
  rig.put(domain);
  rig.put(claim_of("uid-train", "c", "n1"));
  domain.status.emplace().ready = true;
  domain.meta.resource_version = "2";
  rig.put(domain);
  EXPECT_EQ(rig.memory.formation_ended("uid-train"), std::nullopt);
}

}  // namespace
}  // namespace cdom::controller
