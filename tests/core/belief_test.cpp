// What the controller believes of a node: what was given to it outranks what it says.
#include <gmock/gmock.h>

#include "compute_domain/api/names.h"
#include "compute_domain/core/channels.h"
#include "compute_domain/core/readiness.h"
#include "compute_domain/core/slots.h"
#include "compute_domain/core/status.h"
#include "core/builders.h"

namespace cdom::core {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the builders
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kOtherClique[] = "6f0a5a5e-0000-4000-8000-000000000002.0";

// A report as the API server has it between its creation and the first write of its status.
NodeView node_without_a_word(const std::string& name) {
  NodeView view = idle_node(name);
  view.report->status = {};
  return view;
}

std::vector<MemberView> judged(const World& world) {
  return readiness_of(world, memberships_of(world.view, world.nodes, world.lists)).members;
}

TEST(Belief, ANodeIsInNoGroupBeforeItsOwnWord) {
  World world = world_of(domain("train").finalized(), 1);
  world.nodes["n1"] = node_without_a_word("n1");
  const auto members = memberships_of(world.view, world.nodes, world.lists);
  EXPECT_EQ(members.at(0).clique, std::nullopt);
  EXPECT_THAT(write_list(world, "").actions, IsEmpty());
  EXPECT_EQ(judged(world).at(0).state, MemberState("NotReported"));
}

TEST(Belief, AnEntryHoldsAMemberOnlyWhileItsNodeServesIt) {
  World world = world_of(domain("train").finalized(), 1);
  world.nodes["n1"] = idle_node("n1", "");
  write_list(world, "");
  ASSERT_TRUE(list_in(world, "").entries.at(0).member);
  world.nodes["n1"] = idle_node("n1");
  EXPECT_EQ(memberships_of(world.view, world.nodes, world.lists).at(0).clique, kClique);
}

TEST(Belief, ANodeThatRebootsIntoAnotherCliqueIsAMemberThere) {
  World world = settled_world(2);
  world.nodes["n1"] = idle_node("n1", kOtherClique);
  world.nodes["n1"].node->boot_id = "boot-2";
  world.nodes["n1"].report->status.boot_id = "boot-2";
  write_list(world);
  EXPECT_FALSE(find_entry(list_in(world), "n1")->member);
  write_list(world, kOtherClique);
  EXPECT_THAT(list_in(world, kOtherClique).entries, SizeIs(1));
  EXPECT_THAT(list_in(world, kOtherClique).entries.at(0).admits, SizeIs(1));
}

TEST(Belief, ANodeWhoseFabricIsNotReadAfterAReboot_StaysWhereItWas) {
  World world = settled_world(2);
  world.nodes["n1"].node->boot_id = world.nodes["n1"].report->status.boot_id = "boot-2";
  world.nodes["n1"].report->status.clique = "";
  world.nodes["n1"].report->status.fabric_error = "the GPU driver does not answer";
  world.nodes["n1"].report->status.groups.clear();
  EXPECT_EQ(memberships_of(world.view, world.nodes, world.lists).at(0).clique, kClique);
}

TEST(Belief, NoNodeTakesASlotThatWasGivenToAnother) {
  World world = settled_world(3);
  group_report(world, "n1").slot = 2;
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty());
  const Plan plan = reconcile(world);
  EXPECT_EQ(condition_in(plan, "Ready").reason, "WrongNodeTable");
  EXPECT_EQ(status_in(plan)->status.ready_nodes, "2/3");
}

TEST(Belief, WhatAStatusRemembersOutranksReportsWhenTheListIsLost) {
  World world = settled_world(3);
  group_report(world, "n1").slot = 2;
  world.lists.clear();
  write_list(world);
  EXPECT_EQ(find_entry(list_in(world), "n1")->slot, 0);
  EXPECT_EQ(find_entry(list_in(world), "n3")->slot, 2);
}

TEST(Belief, ATermBeyondReasonOverflowsNothing) {
  World world = settled_world(2);
  group_report(world, "n1").term = INT64_MAX;
  world.lists.clear();
  write_list(world);
  EXPECT_GT(list_in(world).last_term, 0);
  EXPECT_LT(list_in(world).last_term, INT64_MAX / 2);
}

TEST(Belief, AnAddressThatIsNoneIsNotPassedOn) {
  World world = world_of(domain("train").wants(2).finalized(), 2);
  world.nodes["n1"].report->status.address = "10.0.0.1\n10.6.6.6 kubernetes.default";
  write_list(world);
  EXPECT_EQ(find_entry(list_in(world), "n1")->address, "");
  EXPECT_EQ(find_entry(list_in(world), "n2")->address, "10.88.1.2");
  EXPECT_FALSE(list_in(world).complete);
}

TEST(Belief, AnAddressThatIsNoneDoesNotReplaceOneThatWas) {
  World world = settled_world(2);
  world.nodes["n1"].report->status.address = "evil.example";
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty());
}

TEST(Belief, StatusAndSlotStayAsTheyWereWhileTheListIsLost) {
  World world = settled_world(2);
  world.lists.clear();
  const Plan plan = reconcile(world);
  ASSERT_NE(status_in(plan), nullptr);
  EXPECT_FALSE(status_in(plan)->status.ready);
  EXPECT_EQ(status_in(plan)->status.nodes.at(1).index, 1);
  EXPECT_EQ(status_in(plan)->status.nodes.at(1).clique, kClique);
}

TEST(Belief, AMemberWhoseClaimIsNotPreparedIsNotReady) {
  World world = settled_world(2);
  group_report(world, "n1").claims.clear();
  group_report(world, "n1").message = "the GPU driver has no IMEX channels";
  const Plan plan = reconcile(world);
  ASSERT_NE(status_in(plan), nullptr);
  EXPECT_FALSE(status_in(plan)->status.ready);
  EXPECT_THAT(condition_in(plan, "Ready").message,
              HasSubstr("the GPU driver has no IMEX channels"));
}

TEST(Belief, ANodeWithoutAnAgentStaysNotReadyWhenAControllerStarts) {
  World world = settled_world(2);
  world.nodes["n1"].agent = AgentPod{.ready = false, .lasts = std::chrono::hours(1)};
  apply_status(world, reconcile(world));
  ASSERT_FALSE(world.view.domain->status->ready);
  world.nodes["n1"].agent = AgentPod{.ready = false, .lasts = {}};  // as far as it has seen
  EXPECT_THAT(reconcile(world).actions, IsEmpty());
  world.nodes["n1"].agent->ready = true;
  EXPECT_TRUE(status_in(reconcile(world))->status.ready);
}

TEST(Belief, EachNodeOfTheStatusHasItsOwnReason) {
  World world = settled_world(4);
  group_report(world, "n1").state = group_report(world, "n2").state = api::DaemonState::Failed;
  group_report(world, "n1").message = "nvidia-imex has ended";
  group_report(world, "n2").message = "nvidia-imex hangs";
  world.nodes["n3"].node->ready = api::ConditionStatus::Unknown;
  const Plan plan = reconcile(world);
  ASSERT_NE(status_in(plan), nullptr);
  const auto& nodes = status_in(plan)->status.nodes;
  EXPECT_EQ(nodes.at(0).reason, "ImexFailed");
  EXPECT_EQ(nodes.at(0).message, "nvidia-imex has ended");
  EXPECT_EQ(nodes.at(1).message, "nvidia-imex hangs");
  EXPECT_EQ(nodes.at(2).reason, "NodeUnknown");
  EXPECT_EQ(nodes.at(3).reason, "");
}

// By channel: nodes n1 and n2 of one clique.
class CliqueBelief : public ::testing::Test {
 protected:
  CliqueBelief() {
    world.now = kNow;
    world.clique = kClique;
    for (const char* node : {"n1", "n2"}) add(node);
  }
  NodeView& add(const std::string& node) {
    NodeView& view = world.nodes[node] = idle_node(node);
    view.report->status.isolation = api::Isolation::Channel;
    return view;
  }
  DomainView& domain_with(const std::string& name, const std::vector<std::string>& nodes) {
    DomainView view{.uid = uid_of(name), .domain = domain(name).finalized(), .claims = {}};
    for (const std::string& node : nodes) {
      view.claims.push_back(claim(base::cat(name, "-", node)).of(name).on(node));
    }
    world.domains.push_back(std::move(view));
    return world.domains.back();
  }
  Plan write() {
    Plan plan = reconcile_clique(world);
    for (const Action& action : plan.actions) {
      const auto* list = std::get_if<WriteNodeList>(&action);
      if (list == nullptr) continue;
      api::ConfigMap map = list->desired;
      map.meta.uid = "uid-list";
      map.meta.resource_version = "2";
      world.list = stored_list(map);
    }
    return plan;
  }
  const api::NodeList& list() { return *world.list->list; }
  api::ImexGroupReport& report(const std::string& node, const std::vector<std::string>& claims,
                               const std::string& channels) {
    api::ImexGroupReport said;
    said.group = group_id({"", kClique});
    if (world.list) {
      said.slot = find_entry(list(), node)->slot;
      said.term = find_entry(list(), node)->term;
      said.table_hash = api::table_hash(list());
      said.releases = list().releases;
    }
    said.state = api::DaemonState::Ready;
    said.instance = "i-" + node;
    said.connected = "0-17";
    for (const std::string& name : claims) said.claims.push_back(uid_of(name));
    said.channels = channels;
    world.nodes[node].report->status.groups = {said};
    return world.nodes[node].report->status.groups.front();
  }
  World world_of_domain(const DomainView& view) {
    World of;
    of.now = kNow;
    of.settings = world.settings;
    of.view = view;
    if (world.list) of.lists = {*world.list};
    of.nodes = world.nodes;
    return of;
  }
  std::optional<std::int64_t> channel(const std::string& name) {
    return channel_of(list(), uid_of(name));
  }

  CliqueWorld world;
};

TEST_F(CliqueBelief, ANodeJoinsOnlyWhenSomebodyElseThanItsAgentSaysSo) {
  api::ObjectMeta& node = add("n3").node->meta;
  node.labels.erase(api::kNodeCliqueLabel);
  write();
  EXPECT_EQ(find_entry(list(), "n3"), nullptr);
  // The controller has copied that.
  node.labels[api::kNodeCliqueLabel] = node.annotations[api::kNodeCliqueMark] = kClique;
  EXPECT_THAT(reconcile_clique(world).actions, IsEmpty());
  node.annotations.clear();
  write();
  EXPECT_NE(find_entry(list(), "n3"), nullptr);
}

TEST_F(CliqueBelief, AReportOfANodeThatNobodyConfirmsMakesNoList) {
  world.nodes.clear();
  api::ObjectMeta& node = add("n3").node->meta;
  const std::map<std::string, std::string> labels = std::exchange(node.labels, {});
  report("n3", {"somebodys"}, "1-100").slot = 0;
  EXPECT_THAT(reconcile_clique(world).actions, IsEmpty());
  // Nor one that goes again at once, and comes again.
  world.nodes["n3"].report->status.boot_id = "of no Node";
  EXPECT_THAT(reconcile_clique(world).actions, IsEmpty());
  node.labels = labels;
  write();
  EXPECT_EQ(find_entry(list(), "n3")->slot, 0);
}

TEST_F(CliqueBelief, AListThatIsLostTakesNoChannelsFromANodeThatNobodyConfirms) {
  add("n3").node->meta.labels.clear();
  report("n3", {"somebodys"}, "1-100").slot = 0;
  domain_with("blue", {"n1"});
  write();
  EXPECT_EQ(find_entry(list(), "n3"), nullptr);
  EXPECT_EQ(find_entry(list(), "n1")->slot, 1) << "a daemon may run in the other";
  EXPECT_THAT(list().channels, SizeIs(1));
  EXPECT_EQ(channel("blue"), 2) << "a container may have the other";
}

// The labels may go and come with GPU feature discovery, and the daemons run on.
TEST_F(CliqueBelief, NodesHaveTheirSlotsAgainWhenTheirLabelsComeBackAfterTheListWasLost) {
  write();
  std::map<std::string, api::ObjectMeta> metas;
  for (const char* node : {"n1", "n2"}) {
    report(node, {}, "").term = 5;
    metas[node] = world.nodes[node].node->meta;
    world.nodes[node].node->meta.labels.clear();
  }
  world.list.reset();
  add("n3");
  write();
  EXPECT_EQ(find_entry(list(), "n3")->slot, 2);
  for (const char* node : {"n2", "n1"}) {
    world.nodes[node].node->meta = metas[node];
    write();
  }
  EXPECT_EQ(find_entry(list(), "n1")->slot, 0);
  EXPECT_EQ(find_entry(list(), "n2")->slot, 1);
  EXPECT_GT(find_entry(list(), "n1")->term, 5)
      << "its daemon's end has to be told from an earlier one";
}

TEST_F(CliqueBelief, ANodeThatNobodyConfirmsKeepsNoneOfAnotherFromASlot) {
  world.settings.slots_per_group = 2;
  add("n0").node->meta.labels.clear();
  report("n0", {}, "").slot = 0;
  write();
  EXPECT_THAT(list().entries, SizeIs(2));
  EXPECT_EQ(find_entry(list(), "n2")->slot, 0);
}

TEST_F(CliqueBelief, AListThatIsLostBelievesANodeThatADomainRemembers) {
  DomainView& blue = domain_with("blue", {"n1"});
  write();
  report("n1", {"blue-n1"}, "1").claim_channels = {{uid_of("blue-n1"), 1}};
  World of = world_of_domain(blue);
  apply_status(of, reconcile(of));
  world.domains.front().domain = of.view.domain;
  world.list.reset();
  world.nodes["n1"].node->meta.labels.clear();
  write();
  ASSERT_NE(find_entry(list(), "n1"), nullptr);
  EXPECT_EQ(channel("blue"), 1);
}

TEST_F(CliqueBelief, ANodeOfAnUnconfirmedCliqueIsToldTheCommandThatConfirmsIt) {
  DomainView& blue = domain_with("blue", {"n1"});
  api::ObjectMeta& node = world.nodes["n1"].node->meta;
  const auto verdict = [&] { return judged(world_of_domain(blue)).at(0); };
  EXPECT_EQ(verdict().state, MemberState("Starting"));
  node.labels.clear();
  EXPECT_EQ(verdict().state, MemberState("CliqueNotConfirmed"));
  EXPECT_THAT(
      verdict().detail,
      HasSubstr(base::cat("kubectl label node n1 --overwrite nvidia.com/gpu.clique=", kClique)));
  node.labels[api::kNodeCliqueLabel] = node.annotations[api::kNodeCliqueMark] = kClique;
  EXPECT_THAT(verdict().detail,
              HasSubstr("kubectl annotate node n1 resource.nvidia.com/gpu.clique-"));
  node.labels[api::kNodeCliqueLabel] = kOtherClique;
  EXPECT_THAT(verdict().detail,
              HasSubstr(base::cat("its label nvidia.com/gpu.clique says ", kOtherClique)));
}

TEST_F(CliqueBelief, AMemberStaysWhenItsLabelGoes) {
  write();
  world.nodes["n1"].node->meta.labels.clear();
  EXPECT_THAT(reconcile_clique(world).actions, IsEmpty());
}

TEST_F(CliqueBelief, ChannelsThatAReportMakesUpAreUsedByNobody) {
  write();
  report("n1", {}, "0-65535");
  domain_with("blue", {"n2"});
  write();
  EXPECT_EQ(channel("blue"), 1);
}

TEST_F(CliqueBelief, ReleasesThatAReportMakesUpCountNothing) {
  write();
  report("n1", {}, "").releases = INT64_MAX;
  DomainView& blue = domain_with("blue", {"n2"});
  write();
  EXPECT_EQ(list().releases, 0);
  blue.claims.clear();
  blue.domain.reset();
  write();
  EXPECT_EQ(list().releases, 1);
}

TEST_F(CliqueBelief, AListThatIsLostIsRebuiltWithReleasesWithinReason) {
  report("n1", {}, "").releases = INT64_MAX;
  domain_with("blue", {"n2"});
  write();
  EXPECT_LT(list().releases, INT64_MAX / 2);
}

TEST_F(CliqueBelief, ADomainKeepsItsChannelInTheStatusWhileTheListIsLost) {
  DomainView& blue = domain_with("blue", {"n1"});
  write();
  report("n1", {"blue-n1"}, "1");
  World of = world_of_domain(blue);
  apply_status(of, reconcile(of));
  ASSERT_EQ(of.view.domain->status->nodes.at(0).channel, 1);
  of.lists.clear();
  apply_status(of, reconcile(of));
  EXPECT_EQ(of.view.domain->status->nodes.at(0).channel, 1);
  EXPECT_EQ(of.view.domain->status->nodes.at(0).index, 0);
}

TEST_F(CliqueBelief, AMemberWhoseContainersHaveAnotherChannelIsNotReady) {
  const DomainView blue = domain_with("blue", {"n1"});
  write();
  report("n1", {"blue-n1"}, "5");
  const World of = world_of_domain(blue);
  const auto members = judged(of);
  EXPECT_NE(members.at(0).state, MemberState("Ready"));
  EXPECT_THAT(members.at(0).detail, HasSubstr("channel"));
}

TEST_F(CliqueBelief, AListThatIsLostGetsTheChannelsThatReportsNameForTheDomainsClaims) {
  domain_with("blue", {"n1"});
  domain_with("green", {"n2"});
  report("n2", {"green-n2"}, "1").claim_channels = {{uid_of("green-n2"), 1}};
  write();
  EXPECT_EQ(channel("green"), 1);
  EXPECT_EQ(channel("blue"), 2);
}

TEST_F(CliqueBelief, AListThatIsLostKeepsChannelsOfUnknownContainersFromOthers) {
  domain_with("blue", {"n2"});
  report("n1", {"somebodys"}, "1").releases = 3;
  write();
  EXPECT_EQ(channel("blue"), 2);
  EXPECT_EQ(list().channels.at(0).number, 1);
  EXPECT_EQ(list().channels.at(0).release, 4);
  report("n1", {}, "");
  domain_with("green", {"n2"});
  write();
  EXPECT_EQ(std::ranges::count(list().channels, 1, &api::Channel::number), 0);
}

// It was made again before the node had told of it.
TEST_F(CliqueBelief, AChannelOfAClaimOnTheNodeIsGivenToNobodyElse) {
  write();
  domain_with("green", {"n1"}).domain->meta.deletion_time = kNow;
  report("n1", {"green-n1"}, "1").claim_channels = {{uid_of("green-n1"), 1}};
  domain_with("blue", {"n2"});
  write();
  EXPECT_EQ(channel("blue"), 2);
}

TEST_F(CliqueBelief, TheListHoldsAllChannelsOfARack) {
  for (int i = 1; i <= 18; ++i) add(base::cat("a-node-name-of-thirty-five-letters", i));
  write();
  api::NodeList full = list();
  for (int d = 0; d < 2047; ++d) {
    const std::string uid = base::cat("00000000-0000-4000-8000-", 100'000'000'000 + d);
    api::Channel channel{.number = d + 1, .domain_uid = uid, .release = 0, .slots = {}};
    for (std::int64_t slot = 0; slot < 18; ++slot) channel.slots.insert(slot);
    full.channels.push_back(std::move(channel));
  }
  EXPECT_LT(api::encode_node_list(full).size(), 512U * 1024);
}

TEST_F(CliqueBelief, AClaimThatWouldOverfillTheListIsRefusedInTime) {
  write();
  DomainView& blue = domain_with("blue", {"n1"});
  const std::string filler(1500, 'x');
  for (int i = 0; i < 700; ++i) {
    blue.claims.push_back(claim(base::cat("blue-", filler, i)).of("blue").on("n1"));
  }
  for (int i = 0; i < 5; ++i) write();
  EXPECT_LT(api::encode_node_list(list()).size(), 1024U * 1024);
  EXPECT_THAT(reconcile_clique(world).actions, IsEmpty());

  DomainView green{.uid = uid_of("green"), .domain = domain("green").finalized(), .claims = {}};
  green.claims.push_back(claim(base::cat("green-", filler)).of("green").on("n2"));
  report("n2", {}, "");
  const auto members = judged(world_of_domain(green));
  EXPECT_EQ(members.at(0).state, MemberState("NodeListFull"));
  EXPECT_THAT(members.at(0).detail, HasSubstr("is full"));
}

TEST_F(CliqueBelief, AReportWithoutAWordLeavesItsIsolationOpen) {
  DomainView& blue = domain_with("blue", {"n1"});
  world.nodes["n1"].report->status = {};
  const auto members = memberships_of(blue, world.nodes, {});
  EXPECT_EQ(members.at(0).clique, std::nullopt);
}

TEST(Belief, AMemberThatWaitsSaysWhatKubeletIsTold) {
  World world = settled_world(2);
  const auto members = memberships_of(world.view, world.nodes, world.lists);
  api::ComputeDomainNodeReport& report = world.nodes["n1"].report->status;
  report.pending_claims = {{members.at(0).claims.at(0), "the node still serves another domain"}};
  report.groups.at(0).claims.clear();
  EXPECT_EQ(judged(world).at(0).detail,
            "its claim is not prepared yet: the node still serves another domain");
  report.groups.clear();
  EXPECT_EQ(judged(world).at(0).detail,
            "it has not prepared a claim yet: the node still serves another domain");
  report.pending_claims[0].uid = "of-another-domain";
  EXPECT_EQ(judged(world).at(0).detail, "it has not prepared a claim yet");
}

// All nodes of the clique are in its list; only those on which a domain was admitted can have
// containers with its channel.
TEST_F(CliqueBelief, ANodeThatNeverHadADomainHoldsItsDeletionByNoChannelThatItMakesUp) {
  DomainView& blue = domain_with("blue", {"n1"});
  write();
  ASSERT_EQ(channel("blue"), 1);
  report("n1", {}, "");
  report("n2", {}, "1-2047");  // its token is stolen
  blue.claims.clear();
  blue.domain->meta.deletion_time = kNow;
  const Plan plan = reconcile(world_of_domain(blue));
  EXPECT_THAT(sentences(plan), ::testing::Contains(HasSubstr("inalizer")));
  EXPECT_THAT(condition_in(plan, "Ready").message, ::testing::Not(HasSubstr("n2")));
}

// The node says that it serves nothing and is of another clique, and all is written that follows.
void say_clique(World& world, const std::string& node, const std::string& clique) {
  auto& said = world.nodes.at(node).report->status;
  said.groups.clear();
  said.clique = clique;
  world.now += std::chrono::milliseconds(100);
  for (const ImexGroupKey& key : groups_of(world.view, world.nodes, world.lists)) {
    write_list(world, key.clique);
  }
  apply_status(world, reconcile(world));
}

// By a stolen token: each node list is a ConfigMap that all agents watch, and stays.
TEST(Belief, ANodeThatSaysAnotherCliqueEachTimeMakesNoNodeListEachTime) {
  World world = settled_world(2);
  for (int i = 0; i < 200; ++i) say_clique(world, "n1", base::cat("made-up.", i));
  EXPECT_THAT(world.lists, SizeIs(kMostCliquesOfNode));

  const MemberView liar = judged(world).at(0);
  EXPECT_EQ(liar.state, MemberState("TooManyCliques"));
  EXPECT_THAT(liar.detail, HasSubstr("delete the ComputeDomain and create it again"));
  // At rest, also when it says another one again.
  world.nodes.at("n1").report->status.clique = "made-up.200";
  for (const ImexGroupKey& key : groups_of(world.view, world.nodes, world.lists)) {
    EXPECT_THAT(write_list(world, key.clique).actions, IsEmpty());
  }
  EXPECT_THAT(reconcile(world).actions, IsEmpty());
}

TEST(Belief, CliquesThatANodeMakesUpKeepNoOtherNodeFromItsOwn) {
  World world = settled_world(2);
  const api::NodeListEntry before = *find_entry(list_in(world), "n2");
  for (int i = 0; i < 20; ++i) say_clique(world, "n1", base::cat("made-up.", i));
  EXPECT_EQ(*find_entry(list_in(world), "n2"), before);
  say_clique(world, "n2", kOtherClique);
  EXPECT_TRUE(find_entry(list_in(world, kOtherClique), "n2")->member);
}

TEST(Belief, TheListOfNodesWithoutAFabricIsNoneOfTheCliquesOfANode) {
  World world = settled_world(2);
  for (std::size_t i = 2; i < kMostCliquesOfNode; ++i) {
    say_clique(world, "n1", base::cat("made-up.", i));
  }
  say_clique(world, "n1", "");
  ASSERT_THAT(world.lists, SizeIs(kMostCliquesOfNode));
  EXPECT_THAT(list_in(world, "").entries, SizeIs(1));
  say_clique(world, "n1", kOtherClique);
  ASSERT_THAT(world.lists, SizeIs(kMostCliquesOfNode + 1));
  EXPECT_TRUE(find_entry(list_in(world, kOtherClique), "n1")->member);
  say_clique(world, "n1", "");
  EXPECT_THAT(list_in(world, "").entries, SizeIs(1));
}

TEST(Belief, ANodeThatReportedTooManyCliquesIsAMemberAgainWhereItHasASlot) {
  World world = settled_world(2);
  const std::int64_t slot = find_entry(list_in(world), "n1")->slot;
  for (int i = 0; i < 20; ++i) say_clique(world, "n1", base::cat("made-up.", i));
  ASSERT_FALSE(find_entry(list_in(world), "n1")->member);
  say_clique(world, "n1", kClique);
  const api::NodeListEntry* entry = find_entry(list_in(world), "n1");
  EXPECT_TRUE(entry->member);
  EXPECT_EQ(entry->slot, slot);
  EXPECT_THAT(entry->admits, SizeIs(1));
}

// As while an API server starts again: reports come, and no node list that was written.
TEST(Belief, CliquesThatANodeMakesUpWhileTheListsAreLateMakeFewLists) {
  World world = settled_world(2);
  std::size_t made = 0;
  const auto say = [&](int i) {
    auto& said = world.nodes.at("n1").report->status;
    said.groups.clear();
    said.clique = base::cat("made-up.", i);
    std::optional<base::Duration> wait;
    for (const ImexGroupKey& key : groups_of(world.view, world.nodes, world.lists)) {
      const Plan plan = reconcile_group(world, key);
      for (const Action& action : plan.actions) {
        const auto* write = std::get_if<WriteNodeList>(&action);
        if (write == nullptr || !write->current.uid.empty()) continue;
        world.lists_written[key] = world.now;
        ++made;
      }
      if (plan.look_again) wait = plan.look_again;
    }
    return wait;
  };
  EXPECT_EQ(say(0), std::nullopt);
  for (int i = 1; i < 200; ++i) {
    world.now += std::chrono::milliseconds(100);
    (void)say(i);
  }
  EXPECT_EQ(made, 2U) << "as many as the domain has nodes";
  world.now += std::chrono::seconds(1);
  EXPECT_EQ(say(200), std::chrono::milliseconds(9'100)) << "until the first is 30 s old";
  world.now += std::chrono::seconds(10);
  EXPECT_EQ(say(201), std::nullopt);
  EXPECT_EQ(made, 3U);
}

// Spot machines that were lost hard, each in another rack: no report says Stopped.
TEST(Belief, MachinesThatBearOneNameOneAfterTheOtherAreNotOneNodeInTooManyCliques) {
  World world = settled_world(2);
  for (int i = 0; i < 9; ++i) {
    const std::string boot = base::cat("boot-of-machine-", i);
    world.nodes.at("n1").node->boot_id = boot;
    world.nodes.at("n1").report->status.boot_id = boot;
    say_clique(world, "n1", base::cat("rack.", i));
  }
  EXPECT_NE(judged(world).at(0).state, MemberState("TooManyCliques"));
}

// Only kubelet tells the boot.
TEST(Belief, ABootThatOnlyTheAgentReportsGivesNoMoreCliques) {
  World world = settled_world(2);
  for (int i = 0; i < 20; ++i) {
    world.nodes.at("n1").report->status.boot_id = base::cat("made-up-boot-", i);
    say_clique(world, "n1", base::cat("made-up.", i));
  }
  EXPECT_LE(world.lists.size(), kMostCliquesOfNode);
}

// A group that has no list yet: what the node reports of it says in which boot its slot is.
TEST(Belief, ABootThatTheAgentReportsWithAGroupOfItsOwnGivesNoMoreCliques) {
  World world = settled_world(2);
  for (int i = 0; i < 20; ++i) {
    const std::string clique = base::cat("made-up.", i);
    api::ImexGroupReport group;
    group.group = group_id({world.view.uid, clique});
    group.slot = 0;
    group.state = api::DaemonState::Stopped;
    auto& said = world.nodes.at("n1").report->status;
    said.boot_id = "made-up-boot";
    said.clique = clique;
    said.groups = {group};
    world.now += std::chrono::milliseconds(100);
    for (const ImexGroupKey& key : groups_of(world.view, world.nodes, world.lists)) {
      write_list(world, key.clique);
    }
    apply_status(world, reconcile(world));
  }
  EXPECT_LE(world.lists.size(), kMostCliquesOfNode);
}

}  // namespace
}  // namespace cdom::core
