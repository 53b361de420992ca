#include <gmock/gmock.h>

#include <functional>

#include "compute_domain/api/names.h"
#include "core/builders.h"

namespace cdom::core {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the builders
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

const api::NodeListEntry& entry_in(const World& world, const std::string& node) {
  return *find_entry(list_in(world), node);
}

TEST(ReconcileGroup, AdmitsTheClaimsOfItsMembersWithASlotEach) {
  World world = world_of(domain("train").wants(2).finalized(), 2);
  write_list(world);
  const api::NodeList& list = list_in(world);
  ASSERT_THAT(list.entries, SizeIs(2));
  EXPECT_TRUE(list.complete);
  EXPECT_EQ(list.entries[0].node, "n1");
  EXPECT_EQ(list.entries[0].slot, 0);
  EXPECT_EQ(list.entries[0].address, "10.88.1.1");
  EXPECT_EQ(list.entries[0].boot_id, "boot-1");
  EXPECT_EQ(list.entries[0].admits, (std::vector<api::Admission>{{"uid-c1", 0}}));
  EXPECT_EQ(list.entries[1].slot, 1);
}

TEST(ReconcileGroup, WritesTheClaimsOfANodeOnceInWhateverOrderTheyCome) {
  World world = world_of(domain("train").wants(1).finalized(), 1);
  world.view.claims = {claim("c2").on("n1"), claim("c1").on("n1")};
  write_list(world);
  EXPECT_EQ(entry_in(world, "n1").admits,
            (std::vector<api::Admission>{{"uid-c1", 0}, {"uid-c2", 0}}));
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty());
}

TEST(ReconcileGroup, WritesNothingBeforeTheFinalizerIsThere) {
  const World world = world_of(domain("train"), 2);
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty());
}

TEST(ReconcileGroup, MakesNoListForADomainThatIsBeingDeleted) {
  const World world = world_of(domain("train").finalized().deleting(), 2);
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty());
}

TEST(ReconcileGroup, AListThatCannotBeReadHoldsEveryAllocatedClaim) {
  const std::vector<api::ResourceClaim> claims = {claim("c1").on("n1"), claim("c2")};
  EXPECT_THAT(held_claims("uid-train", {}, claims), IsEmpty());
  EXPECT_THAT(held_claims("uid-train", {StoredList{.problem = "not JSON"}}, claims),
              ElementsAre("uid-c1"));
}

TEST(ReconcileGroup, PutsBackALabelOfTheListThatSomebodyTookAway) {
  World world = settled_world(2);
  world.lists.front().meta.labels.erase(api::kCliqueLabel);
  const Plan plan = reconcile_group(world, group_of(world));
  const auto* write = std::get_if<WriteNodeList>(&plan.actions.at(0));
  ASSERT_NE(write, nullptr);
  EXPECT_EQ(write->desired.meta.label(api::kCliqueLabel), kClique);
}

TEST(ReconcileGroup, IsCompleteOnlyWithAllNodesThatTheDomainWants) {
  World world = world_of(domain("train").wants(3).finalized(), 2);
  write_list(world);
  EXPECT_FALSE(list_in(world).complete);
}

TEST(ReconcileGroup, WithoutACountIsCompleteWhenEveryClaimIsAllocated) {
  World world = world_of(domain("train").finalized(), 2);
  world.view.claims.push_back(claim("c3"));
  write_list(world);
  EXPECT_FALSE(list_in(world).complete);
  world.view.claims.pop_back();
  write_list(world);
  EXPECT_TRUE(list_in(world).complete);
}

TEST(ReconcileGroup, KeepsTheSlotOfANodeThatLeavesAndComesBack) {
  World world = settled_world(2);
  const auto claim_of_n1 = world.view.claims[0];
  world.view.claims.erase(world.view.claims.begin());
  write_list(world);
  EXPECT_FALSE(entry_in(world, "n1").member);
  EXPECT_THAT(entry_in(world, "n1").admits, IsEmpty());
  const std::int64_t term = entry_in(world, "n1").term;
  world.view.claims.push_back(claim_of_n1);
  write_list(world);
  EXPECT_EQ(entry_in(world, "n1").slot, 0);
  EXPECT_GT(entry_in(world, "n1").term, term);
}

// Else a "stopped" from between the two claims would free the slot under the next daemon.
TEST(ReconcileGroup, RaisesTheTermWithEachNewClaimOfANode) {
  World world = settled_world(2);
  const std::int64_t term = entry_in(world, "n1").term;
  write_list(world);
  EXPECT_EQ(entry_in(world, "n1").term, term);
  world.view.claims[0] = claim("c9").on("n1");
  write_list(world);
  EXPECT_THAT(entry_in(world, "n1").admits, SizeIs(1));
  EXPECT_GT(entry_in(world, "n1").term, term);
  const std::int64_t second = entry_in(world, "n1").term;
  world.view.claims.push_back(claim("c10").on("n1"));
  write_list(world);
  EXPECT_GT(entry_in(world, "n1").term, second);
}

TEST(ReconcileGroup, GivesSlotsNeverUsedFirst) {
  World world = settled_world(2);
  world.view.claims = {claim("c3").on("n3")};
  world.nodes["n3"] = idle_node("n3");
  write_list(world);
  EXPECT_EQ(entry_in(world, "n3").slot, 2);
}

// A group of one slot: whether n2 gets it when n1 has left.
World contended_world() {
  World world = world_of(domain("train").finalized(), 1);
  world.settings.slots_per_group = 1;
  write_list(world);
  report_ready(world);
  world.view.claims = {claim("c2").on("n2")};
  world.nodes["n2"] = idle_node("n2");
  write_list(world);
  return world;
}

TEST(ReconcileGroup, NeverGivesAwayASlotWhoseDaemonMayRun) {
  World world = contended_world();
  EXPECT_EQ(find_entry(list_in(world), "n2"), nullptr);
  world.nodes.at("n1").report.reset();  // absence proves nothing
  world.nodes.at("n1").node.reset();
  write_list(world);
  EXPECT_EQ(find_entry(list_in(world), "n2"), nullptr);
}

TEST(ReconcileGroup, GivesAwayTheSlotOfANodeThatSaysStopped) {
  World world = contended_world();
  api::ImexGroupReport& report = group_report(world, "n1");
  report.state = api::DaemonState::Stopped;
  report.claims.clear();
  write_list(world);
  EXPECT_EQ(entry_in(world, "n2").slot, 0);
  EXPECT_EQ(find_entry(list_in(world), "n1"), nullptr);
}

TEST(ReconcileGroup, DoesNotBelieveAStoppedOfAnEarlierTerm) {
  World world = contended_world();
  api::ImexGroupReport& report = group_report(world, "n1");
  report.state = api::DaemonState::Stopped;
  report.claims.clear();
  report.term -= 1;
  write_list(world);
  EXPECT_EQ(find_entry(list_in(world), "n2"), nullptr);
}

TEST(ReconcileGroup, GivesAwayTheSlotOfARebootedNode) {
  World world = contended_world();
  world.nodes.at("n1").node->boot_id = "boot-2";
  write_list(world);
  EXPECT_EQ(entry_in(world, "n2").slot, 0);
}

TEST(ReconcileGroup, BelievesAnAdministratorsWord) {
  World tainted = contended_world();
  tainted.nodes.at("n1").node->taints = {{"node.kubernetes.io/out-of-service", "", "NoExecute"}};
  write_list(tainted);
  EXPECT_EQ(entry_in(tainted, "n2").slot, 0);

  World annotated = contended_world();
  annotated.nodes.at("n1").node.reset();
  annotated.nodes.at("n1").report->meta.annotations["resource.nvidia.com/fenced"] = "boot-1";
  write_list(annotated);
  EXPECT_EQ(entry_in(annotated, "n2").slot, 0);
}

// n1 has left the domain, and its agent has seen that its daemon ended; n2 and n3 go on.
World world_that_n1_left() {
  World world = world_of(domain("train").finalized(), 3);
  make_template(world);
  write_list(world);
  report_ready(world);
  world.view.claims.erase(world.view.claims.begin());
  write_list(world);
  apply_status(world, reconcile(world));
  api::ImexGroupReport& report = group_report(world, "n1");
  report.state = api::DaemonState::Stopped;
  report.claims.clear();
  return world;
}

bool is_listed(const World& world, const std::string& node) {
  return find_entry(list_in(world), node) != nullptr;
}

// Else its report could never go, and would be a fault for as long as the domain lives.
TEST(ReconcileGroup, LeavesOutANodeThatIsGoneAndWhoseDaemonHasEnded) {
  World world = world_that_n1_left();
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty()) << "its Node is there";
  const std::int64_t last_term = list_in(world).last_term;
  world.nodes.at("n1").node.reset();
  write_list(world);
  EXPECT_FALSE(is_listed(world, "n1"));
  EXPECT_EQ(entry_in(world, "n2").slot, 1);
  EXPECT_EQ(entry_in(world, "n3").slot, 2);
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty());

  // It is another machine under that name, or the same one: no older word is of its next term.
  world.nodes.at("n1").node = idle_node("n1").node;
  world.view.claims.push_back(claim("c9").on("n1"));
  write_list(world);
  EXPECT_EQ(entry_in(world, "n1").slot, 0);
  EXPECT_GT(entry_in(world, "n1").term, last_term);
}

TEST(ReconcileGroup, LeavesOutANodeThatIsGoneAndFenced) {
  World world = world_that_n1_left();
  world.nodes.at("n1").node.reset();
  group_report(world, "n1").state = api::DaemonState::Ready;
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty());
  world.nodes.at("n1").report->meta.annotations[api::kFencedAnnotation] = "boot-1";
  write_list(world);
  EXPECT_FALSE(is_listed(world, "n1"));
}

TEST(ReconcileGroup, KeepsTheEntryOfANodeThatIsGoneWhileItsDaemonMayRun) {
  World world = world_that_n1_left();
  world.nodes.at("n1").node.reset();
  for (const auto& spoil : std::vector<std::function<void(World&)>>{
           [](World& w) { group_report(w, "n1").term -= 1; },
           [](World& w) { group_report(w, "n1").claims = {"uid-c1"}; },
           [](World& w) { group_report(w, "n1").state = api::DaemonState::Ready; },
           [](World& w) { w.nodes.at("n1").report->status.groups.clear(); },
           [](World& w) { w.nodes.at("n1").report.reset(); }}) {
    World doubtful = world;
    spoil(doubtful);
    EXPECT_THAT(reconcile_group(doubtful, group_of(doubtful)).actions, IsEmpty());
  }
}

// It is a member until its claims are gone: nobody has shown that its pods have ended.
TEST(ReconcileGroup, KeepsAMemberWhoseNodeIsGoneAndFenced) {
  World world = settled_world(2);
  world.nodes.at("n1").node.reset();
  world.nodes.at("n1").report->meta.annotations[api::kFencedAnnotation] = "boot-1";
  write_list(world);
  EXPECT_TRUE(is_listed(world, "n1"));
}

// What is left out would come back from there, without the term that its report is of.
TEST(ReconcileGroup, LeavesOutNobodyWhoseSlotTheStatusStillHas) {
  World world = settled_world(2);
  world.view.claims.erase(world.view.claims.begin());
  write_list(world);
  group_report(world, "n1").state = api::DaemonState::Stopped;
  group_report(world, "n1").claims.clear();
  world.nodes.at("n1").node.reset();
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty());
  apply_status(world, reconcile(world));
  write_list(world);
  EXPECT_FALSE(is_listed(world, "n1"));
}

TEST(ReconcileGroup, TellsOfMoreMembersThanSlots) {
  World world = world_of(domain("train").finalized(), 3);
  world.settings.slots_per_group = 2;
  make_template(world);
  write_list(world);
  EXPECT_THAT(list_in(world).entries, SizeIs(2));
  const Plan plan = reconcile(world);
  EXPECT_EQ(condition_in(plan, "Ready").reason, "GroupFull");
  EXPECT_THAT(condition_in(plan, "Ready").message, HasSubstr("n3"));
}

TEST(ReconcileGroup, RestoresADeletedListWithTheSameSlots) {
  World world = settled_world(3);
  world.view.claims.erase(world.view.claims.begin());  // n1 has left: n2 and n3 keep 1 and 2
  write_list(world);
  apply_status(world, reconcile(world));
  world.lists.clear();
  const Plan plan = write_list(world);
  EXPECT_EQ(entry_in(world, "n2").slot, 1);
  EXPECT_EQ(entry_in(world, "n3").slot, 2);
  EXPECT_EQ(std::get<RecordEvent>(plan.actions.at(1)).reason, "NodeListRestored");
}

TEST(ReconcileGroup, UndoesAnEditByHand) {
  World world = settled_world(2);
  api::ConfigMap edited = config_map_of(list_in(world), *world.view.domain, world.settings);
  edited.meta.uid = "uid-list";
  edited.data[api::kNodeListKey] += " ";
  world.lists = {stored_list(edited)};
  EXPECT_FALSE(world.lists[0].list);
  const Plan plan = write_list(world);
  EXPECT_EQ(entry_in(world, "n2").slot, 1);
  EXPECT_EQ(std::get<RecordEvent>(plan.actions.at(1)).reason, "NodeListRestored");
}

// Whoever gives the list of one domain the labels of another.
TEST(ReconcileGroup, BelievesNoListThatIsOfAnotherDomainOrClique) {
  World world = settled_world(2);
  api::ConfigMap map = config_map_of(list_in(world), *world.view.domain, world.settings);
  ASSERT_TRUE(stored_list(map).list);
  api::ConfigMap of_another = map;
  of_another.meta.labels[api::kDomainLabel] = uid_of("eval");
  EXPECT_FALSE(stored_list(of_another).list);
  EXPECT_EQ(stored_list(of_another).problem, "holds the list of another group");
  api::NodeList in_another_clique = list_in(world);
  in_another_clique.clique = "another.1";
  map = config_map_of(in_another_clique, *world.view.domain, world.settings);
  EXPECT_EQ(stored_list(map).problem, "holds the list of another group");
}

TEST(ReconcileGroup, LetsTheWordOfARunningDaemonWin) {
  World world = settled_world(2);
  group_report(world, "n1").slot = 7;
  world.lists.clear();
  world.view.domain->status.reset();
  write_list(world);
  EXPECT_EQ(entry_in(world, "n1").slot, 7);
}

TEST(ReconcileGroup, AdmitsNobodyNewWhileTheDomainIsDeleted) {
  World world = settled_world(2);
  world.view.domain->meta.deletion_time = kNow;
  world.view.claims.push_back(claim("c3").on("n3"));
  world.nodes["n3"] = idle_node("n3");
  write_list(world);
  EXPECT_THAT(entry_in(world, "n1").admits, SizeIs(1));
  const api::NodeListEntry* late = find_entry(list_in(world), "n3");
  EXPECT_TRUE(late == nullptr || late->admits.empty());
}

TEST(ReconcileGroup, WritesFirstInstancesOnceForAll) {
  World world = world_of(domain("train").wants(3).finalized(), 3);
  write_list(world);
  report_ready(world);
  const auto last = world.nodes.at("n3").report->status.groups;
  world.nodes.at("n3").report->status.groups.clear();
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty());
  world.nodes.at("n3").report->status.groups = last;
  write_list(world);
  EXPECT_EQ(entry_in(world, "n1").instance, "i-n1");
  EXPECT_EQ(entry_in(world, "n3").instance, "i-n3");
}

// The world with what the controller remembers of a list that it holds.
Plan hold(World& world) {
  Plan plan = reconcile_group(world, group_of(world));
  if (!plan.holds_list) return plan;
  HeldList& held =
      world.lists_held.try_emplace(group_of(world), HeldList{.since = world.now}).first->second;
  held.digest = *plan.holds_list;
  held.changed = world.now;
  return plan;
}
void arrive(World& world, const std::string& number) {
  world.view.claims.push_back(claim("c" + number).on("n" + number));
  world.nodes["n" + number] = idle_node("n" + number);
}

TEST(ReconcileGroup, HoldsAListThatIsNotCompleteUntilNobodyComesAnyMore) {
  World world = world_of(domain("train").wants(18).finalized(), 2);
  world.settings.arrivals_pause = 200ms;
  Plan plan = hold(world);
  EXPECT_THAT(plan.actions, IsEmpty());
  EXPECT_EQ(plan.look_again, base::Duration(200ms));
  world.now += 150ms;
  plan = hold(world);
  EXPECT_THAT(plan.actions, IsEmpty());
  EXPECT_EQ(plan.look_again, base::Duration(50ms));
  EXPECT_EQ(plan.holds_list, std::nullopt) << "nothing new";
  arrive(world, "3");
  plan = hold(world);
  EXPECT_EQ(plan.look_again, base::Duration(200ms)) << "from the last arrival";
  world.now += 200ms;
  EXPECT_THAT(hold(world).actions, SizeIs(1));
}

TEST(ReconcileGroup, HoldsAListForASecondAtMost) {
  World world = world_of(domain("train").wants(100).finalized(), 1);
  world.settings.arrivals_pause = 200ms;
  const base::Time began = world.now;
  for (int i = 2; hold(world).actions.empty(); ++i) {
    arrive(world, std::to_string(i));
    world.now += 100ms;
    ASSERT_LE(world.now - began, 2s);
  }
  EXPECT_EQ(world.now - began, base::Duration(1s));
}

TEST(ReconcileGroup, HoldsNothingForThoseWhoHaveComeAndGone) {
  World world = world_of(domain("train").wants(18).finalized(), 2);
  world.settings.arrivals_pause = 200ms;
  hold(world);
  world.view.claims.clear();
  const Plan plan = hold(world);
  EXPECT_THAT(plan.actions, IsEmpty());
  EXPECT_EQ(plan.look_again, std::nullopt) << "the controller forgets what it held";
}

TEST(ReconcileGroup, HoldsNothingElseThatPeersWaitFor) {
  World world = world_of(domain("train").wants(18).finalized(), 3);
  write_list(world);
  report_ready(world);
  write_list(world);
  group_report(world, "n2").instance = "next";
  arrive(world, "4");
  world.settings.arrivals_pause = 200ms;
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, SizeIs(1));
}

TEST(ReconcileGroup, HoldsAListThatCarriesFirstInstancesToo) {
  World world = world_of(domain("train").wants(18).finalized(), 3);
  write_list(world);
  report_ready(world);
  arrive(world, "4");
  world.settings.arrivals_pause = 200ms;
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty());
}

// No daemon is waited for there.
TEST(ReconcileGroup, HoldsNoListOfNodesWithoutAFabric) {
  World world = world_of(domain("train").wants(4).finalized(), 0);
  world.view.claims.push_back(claim("c1").on("n1"));
  world.nodes["n1"] = idle_node("n1", "");
  world.settings.arrivals_pause = 200ms;
  EXPECT_THAT(reconcile_group(world, group_of(world, "")).actions, SizeIs(1));
}

TEST(ReconcileGroup, HoldsNoListThatIsCompleteOrAdmitsNobodyNewOrWasLost) {
  World world = world_of(domain("train").wants(3).finalized(), 3);
  world.settings.arrivals_pause = 200ms;
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, SizeIs(1)) << "complete";

  world = world_of(domain("train").wants(4).finalized(), 3);
  write_list(world);
  world.settings.arrivals_pause = 200ms;
  world.view.claims.pop_back();
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, SizeIs(1)) << "one has gone";

  world = world_of(domain("train").finalized(), 3);
  world.settings.arrivals_pause = 200ms;
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, SizeIs(1)) << "of unknown size";

  world = world_of(domain("train").wants(4).finalized(), 3);
  make_template(world);
  write_list(world);
  apply_status(world, reconcile(world));
  world.lists.clear();
  world.settings.arrivals_pause = 200ms;
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, SizeIs(2)) << "was deleted";
}

TEST(ReconcileGroup, CarriesInOneWriteWhatComesWithinAnInterval) {
  World world = world_of(domain("train").wants(4).finalized(), 2);
  world.lists_written[group_of(world)] = world.now - 20ms;
  const Plan plan = reconcile_group(world, group_of(world));
  EXPECT_THAT(plan.actions, IsEmpty());
  EXPECT_EQ(plan.look_again, base::Duration(30ms));
  world.now += 30ms;
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, SizeIs(1));
}

TEST(ReconcileGroup, WritesAListThatIsCompleteAtOnce) {
  World world = world_of(domain("train").wants(4).finalized(), 4);
  world.lists_written[group_of(world)] = world.now;
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, SizeIs(1));
}

TEST(ReconcileGroup, DoesNotWaitForAClockThatWasSetBack) {
  World world = world_of(domain("train").wants(4).finalized(), 2);
  world.lists_written[group_of(world)] = world.now + 1h;
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, SizeIs(1));
}

TEST(ReconcileGroup, WritesTheFirstInstanceOfANodeThatJoinsWithTheNextChange) {
  World world = settled_world(2);
  world.view.claims.push_back(claim("c3").on("n3"));
  world.nodes["n3"] = idle_node("n3");
  write_list(world);
  report_ready(world);
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty());
  group_report(world, "n1").unreachable = {"n3"};
  write_list(world);
  EXPECT_EQ(entry_in(world, "n3").instance, "i-n3");
}

TEST(ReconcileGroup, WritesANewInstanceAtOnce) {
  World world = settled_world(2);
  group_report(world, "n2").instance = "i-n2-again";
  write_list(world);
  EXPECT_EQ(entry_in(world, "n2").instance, "i-n2-again");
}

// A list is read by all members, and a daemon is dialled again for its instance and its address.
TEST(ReconcileGroup, KeepsWhatItHasOfARestlessNodeForAWhile) {
  World world = settled_world(2);
  group_report(world, "n2").instance = "i-n2-again";
  world.nodes.at("n2").report->status.address = "10.9.9.9";
  world.nodes.at("n2").restless_for = 20s;
  const Plan plan = reconcile_group(world, group_of(world));
  EXPECT_THAT(plan.actions, IsEmpty());
  EXPECT_EQ(plan.look_again, 20s);

  // What others are goes on.
  group_report(world, "n1").instance = "i-n1-again";
  EXPECT_EQ(reconcile_group(world, group_of(world)).look_again, 20s);
  write_list(world);
  EXPECT_EQ(entry_in(world, "n1").instance, "i-n1-again");
  EXPECT_EQ(entry_in(world, "n2").instance, "i-n2");
  EXPECT_NE(entry_in(world, "n2").address, "10.9.9.9");

  world.nodes.at("n2").restless_for = 0s;
  write_list(world);
  EXPECT_EQ(entry_in(world, "n2").instance, "i-n2-again");
  EXPECT_EQ(entry_in(world, "n2").address, "10.9.9.9");
  EXPECT_EQ(reconcile_group(world, group_of(world)).look_again, std::nullopt);
}

TEST(ReconcileGroup, TakesTheFirstInstanceOfARestlessNode) {
  World world = world_of(domain("train").wants(2).finalized(), 2);
  for (auto& [name, view] : world.nodes) view.restless_for = 20s;
  write_list(world);
  report_ready(world);
  write_list(world);
  EXPECT_EQ(entry_in(world, "n1").instance, "i-n1");
  EXPECT_FALSE(entry_in(world, "n1").address.empty());
}

TEST(ReconcileGroup, KeepsANodeInItsGroupWhenItsCliqueChangesInUse) {
  World world = settled_world(2);
  world.nodes.at("n1").report->status.clique = "other.1";
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty());
  EXPECT_THAT(reconcile_group(world, group_of(world, "other.1")).actions, IsEmpty());
}

TEST(ReconcileGroup, StaysQuietWhileNodeAndReportDisagreeOnTheBoot) {
  World world = settled_world(2);
  world.nodes.at("n1").node->boot_id = "boot-2";
  write_list(world);
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty());
  world.nodes.at("n1").report->status.boot_id = "boot-2";
  write_list(world);
  EXPECT_EQ(entry_in(world, "n1").boot_id, "boot-2");
}

TEST(ReconcileGroup, GivesNodesWithoutFabricAnEmptyTable) {
  World world = world_of(domain("train").finalized(), 1);
  world.nodes["n1"] = idle_node("n1", "");
  write_list(world, "");
  EXPECT_EQ(list_in(world, "").slots, 0);
  EXPECT_EQ(list_in(world, "").entries.at(0).slot, -1);
  EXPECT_THAT(list_in(world, "").entries.at(0).admits, SizeIs(1));
}

}  // namespace
}  // namespace cdom::core
