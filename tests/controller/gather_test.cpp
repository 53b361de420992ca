// What a key's world says of nodes.
#include "compute_domain/controller/gather.h"

#include <gmock/gmock.h>

#include "compute_domain/core/reconcile.h"
#include "controller/shell_rig.h"

namespace cdom::controller {
namespace {

using namespace std::chrono_literals;

// A domain with a claim on n1.
void fill(ShellRig& rig) {
  rig.put(domain_named("train"));
  rig.put(node_named("n1"));
  rig.put(claim_of("uid-train", "c", "n1"));
}

core::NodeView view_of_n1(const ShellRig& rig) {
  return gather_domain(rig.sources, "uid-train").nodes.at("n1");
}

TEST(Gather, ANodeWithoutAnAgentPodHasBeenWithoutOneSinceTheControllerDecides) {
  ShellRig rig;
  fill(rig);
  EXPECT_EQ(view_of_n1(rig).agent, std::nullopt) << "the caches are not filled yet";
  rig.memory.decides(rig.clock.elapsed());
  rig.clock.advance(5min);
  rig.memory.decides(rig.clock.elapsed());
  EXPECT_EQ(view_of_n1(rig).agent, (core::AgentPod{.ready = false, .lasts = 5min}));
}

TEST(Gather, ANodeThatIsMadeAgainHasTheAgentPodThatIsThere) {
  ShellRig rig;
  fill(rig);
  rig.memory.decides(rig.clock.elapsed());
  auto pod = object_named<api::Pod>("agent-1", "compute-domain-nodes");
  pod.node = "n1";
  pod.ready = true;
  rig.put(pod);
  rig.remove<api::Node>({"", "n1"});
  rig.put(node_named("n1"));
  ASSERT_TRUE(view_of_n1(rig).agent);
  EXPECT_TRUE(view_of_n1(rig).agent->ready);
}

api::ResourceSlice slice_of_n1() {
  auto slice = object_named<api::ResourceSlice>("n1-slice", "");
  slice.driver = api::kDriver;
  slice.node = slice.pool = "n1";
  return slice;
}

TEST(Gather, SeatsAreCountedOnceUntilSomethingOfThemChanges) {
  ShellRig rig;
  fill(rig);
  api::ResourceSlice slice = slice_of_n1();
  slice.devices = {{.name = "channel-0", .attributes = {}}};
  rig.put(slice);
  rig.put(report_of("n1", kSharedIn));
  const core::SeatCount first = seats_of(rig.sources);
  EXPECT_EQ(first, count_seats(rig.sources));
  EXPECT_EQ(first.in_use, 1);
  const Memory::SeatsCounted now{rig.sources.stores.claims.changes(),
                                 rig.sources.stores.slices.changes(),
                                 rig.sources.stores.reports.changes(),
                                 rig.sources.stores.nodes.changes(), rig.workloads.moves()};
  EXPECT_EQ(rig.memory.seats(now,
                             []() -> core::SeatCount {
                               ADD_FAILURE() << "they are counted";
                               return {};
                             }),
            first);

  rig.remove<api::ResourceClaim>({"team-a", "c"});
  EXPECT_EQ(seats_of(rig.sources).in_use, 0) << "a claim has gone";
  rig.put(claim_of("uid-train", "mesh", "", {"a"}));
  EXPECT_EQ(seats_of(rig.sources).in_use, 0);
  rig.workloads.pods_read("team-a", {facts_of_pod("n1", "a")}, true, {});
  EXPECT_EQ(seats_of(rig.sources).in_use, 1) << "a shared claim has come to the node";
  slice.devices.push_back({.name = "channel-1", .attributes = {}});
  rig.put(slice);
  EXPECT_EQ(seats_of(rig.sources).total, 2) << "a slice has changed";
  api::ComputeDomainNode report = report_of("n1");
  report.status.conditions = {{.type = api::kConditionCanServe,
                               .status = api::ConditionStatus::False,
                               .reason = "DriverTooOld"}};
  rig.put(report);
  EXPECT_THAT(seats_of(rig.sources).lacking, testing::SizeIs(1)) << "a report has changed";
}

TEST(Gather, SeatsOfNodesThatTakeNoPodsAreOut) {
  ShellRig rig;
  fill(rig);
  rig.remove<api::ResourceClaim>({"team-a", "c"});
  api::ResourceSlice slice = slice_of_n1();
  slice.devices = {{.name = "channel-0", .attributes = {}}};
  rig.put(slice);
  api::Node node = node_named("n1");
  node.ready = api::ConditionStatus::True;
  rig.put(node);
  const core::SeatCount open = seats_of(rig.sources);
  EXPECT_EQ(open.free(), 1);
  EXPECT_EQ(open.usable(), 1);
  EXPECT_THAT(open.closed, testing::IsEmpty());

  node.taints = {{.key = api::kUnschedulableTaint, .value = "", .effect = "NoSchedule"}};
  node.meta.resource_version = "7";
  rig.put(node);
  const core::SeatCount cordoned = seats_of(rig.sources);
  EXPECT_EQ(cordoned.total, 1);
  EXPECT_EQ(cordoned.free(), 0);
  EXPECT_EQ(cordoned.usable(), 0);
  EXPECT_THAT(cordoned.closed,
              testing::ElementsAre(testing::Pair("cordoned", testing::ElementsAre("n1"))));

  const std::uint64_t changes = rig.sources.stores.nodes.changes();
  node.meta.resource_version = "8";
  rig.put(node);
  EXPECT_EQ(rig.sources.stores.nodes.changes(), changes) << "nothing is counted for it";

  rig.put(claim_of("uid-train", "c", "n1"));
  EXPECT_EQ(seats_of(rig.sources).out, 0) << "what is in use is that first";
}

TEST(Gather, ASharedClaimHasNoSeatOfANodeOfAnotherClique) {
  constexpr char kOther[] = "6f0a5a5e-0000-4000-8000-000000000001.2";
  ShellRig rig;
  fill(rig);
  rig.remove<api::ResourceClaim>({"team-a", "c"});
  api::ResourceSlice slice = slice_of_n1();
  slice.devices = {{.name = "channel-0",
                    .attributes = {{api::kAttributeType, std::string("channel")},
                                   {api::kAttributeId, std::int64_t{0}},
                                   {api::kAttributeClique, std::string(kOther)}}}};
  rig.put(slice);
  rig.put(claim_of("uid-train", "mesh", "", {"a"}));
  rig.workloads.pods_read("team-a", {facts_of_pod("n1", "a")}, true, {});
  const auto is_used = [&] {
    const auto cliques = seats_by_clique(rig.sources);
    const bool has_claims = gather_agent_label(rig.sources, "n1").has_claims;
    EXPECT_EQ(seats_of(rig.sources).in_use, has_claims ? 1 : 0);
    EXPECT_EQ(cliques.at(0).seats.at(0).state == core::Seat::State::InUse, has_claims);
    return has_claims;
  };
  EXPECT_FALSE(is_used()) << "nobody knows its clique";
  rig.put(report_of("n1", kOther));
  EXPECT_FALSE(is_used());
  rig.put(report_of("n1", kSharedIn));
  EXPECT_TRUE(is_used());
}

// A domain whose pods share a claim in the clique of n1, which offers one seat; another wants one.
class UnreadPods : public testing::Test {
 protected:
  static constexpr char kClique[] = "6f0a5a5e-0000-4000-8000-000000000001.2";
  UnreadPods() {
    rig.put(domain_named("train"));
    api::ComputeDomain serve = domain_named("serve");
    serve.spec.placement.emplace().clique = api::CliquePlacement::Single;
    serve.spec.num_nodes = 1;
    rig.put(serve);
    rig.put(node_named("n1"));
    rig.put(report_of("n1", kClique));
    api::ResourceSlice slice = slice_of_n1();
    slice.devices = {{.name = "channel-0",
                      .attributes = {{api::kAttributeType, std::string("channel")},
                                     {api::kAttributeId, std::int64_t{0}},
                                     {api::kAttributeClique, std::string(kClique)}}}};
    rig.put(slice);
    api::ResourceClaim mesh = claim_of("uid-train", "mesh", "", {"a"});
    mesh.allocation->devices[0].pool = base::cat(api::kSharedPoolPrefix, kClique);
    rig.put(mesh);
  }
  void put_list_that_admits_it() {
    const api::ComputeDomain train = domain_named("train");
    api::NodeList list = *core::stored_list(node_list_of(train, kClique, {"n1"})).list;
    list.entries[0].admits = {{.claim_uid = "uid-mesh", .channel = 0}};
    api::ConfigMap map = core::config_map_of(list, train, {});
    map.meta.uid = "uid-list";
    map.meta.resource_version = "1";
    rig.put(map);
  }
  core::PlacementWorld world() { return gather_placement(rig.sources); }
  core::Seat::State state() { return world().cliques.at(0).seats.at(0).state; }

  ShellRig rig;
};

TEST_F(UnreadPods, AreOnTheNodesOfTheirNodeList) {
  EXPECT_EQ(state(), core::Seat::State::Free);
  put_list_that_admits_it();
  EXPECT_EQ(state(), core::Seat::State::InUse);
  rig.clock.advance(1h);
  EXPECT_EQ(state(), core::Seat::State::InUse);
  rig.workloads.pods_read("team-a", {facts_of_pod("n2", "a")}, true, {});
  EXPECT_EQ(state(), core::Seat::State::Free);
}

TEST_F(UnreadPods, MayHaveAnySeatOfTheirCliqueForHalfAMinuteFromWhenTheControllerDecides) {
  const core::UnreadPods of_train{kClique, "uid-train", 1};
  rig.clock.advance(5min);
  rig.memory.decides(rig.clock.elapsed());
  EXPECT_THAT(world().unread, testing::ElementsAre(of_train));
  EXPECT_EQ(world().unread_for, 30s);
  rig.clock.advance(29s);
  EXPECT_THAT(world().unread, testing::ElementsAre(of_train));
  EXPECT_EQ(world().unread_for, 1s);
  rig.clock.advance(1s);
  EXPECT_THAT(world().unread, testing::IsEmpty());
}

TEST_F(UnreadPods, CountNoMoreOnceTheyAreRead) {
  rig.workloads.pods_read("team-a", {facts_of_pod("n1", "a")}, true, {});
  EXPECT_THAT(world().unread, testing::IsEmpty());
  EXPECT_EQ(state(), core::Seat::State::InUse);
}

TEST_F(UnreadPods, HaveNoSeatsWhereNodesIsolateByChannel) {
  api::ResourceSlice slice = slice_of_n1();
  slice.devices = rig.stores.slices.get({"", "n1-slice"})->devices;
  slice.devices.push_back(slice.devices.front());
  slice.devices.back().name = "channel-1";
  slice.meta.resource_version = "2";
  rig.put(slice);
  EXPECT_THAT(world().unread, testing::IsEmpty());
}

TEST(Gather, ASliceWithoutDevicesPublishesNoClique) {
  ShellRig rig;
  fill(rig);
  api::ResourceSlice slice = slice_of_n1();
  rig.put(slice);
  EXPECT_EQ(gather_label(rig.sources, "n1").clique, std::nullopt);
  slice.devices = {{.name = "channel-0", .attributes = {}}};
  rig.put(slice);
  EXPECT_EQ(gather_label(rig.sources, "n1").clique, "");
}

TEST(Gather, ACliqueThatOnlyAnAgentSpeaksOfHasNoSharedSlice) {
  ShellRig rig;
  fill(rig);
  api::ResourceSlice slice = slice_of_n1();
  slice.devices = {
      {.name = "channel-0",
       .attributes = {{"type", std::string("channel")}, {"clique", std::string("a.1")}}}};
  rig.put(slice);
  EXPECT_FALSE(gather_shared_slice(rig.sources, "a.1").has_nodes);
  api::Node node = node_named("n1");
  node.meta.labels[api::kNodeCliqueLabel] = "a.1";
  rig.put(node);
  EXPECT_TRUE(gather_shared_slice(rig.sources, "a.1").has_nodes);
}

TEST(Gather, AnAgentsEndIsNoLaterThanItWasSeen) {
  ShellRig rig;
  fill(rig);
  auto pod = object_named<api::Pod>("agent-1", "compute-domain-nodes");
  pod.node = "n1";
  pod.ready_changed = rig.clock.now() + 1h;  // by the node's own clock
  rig.put(pod);
  ASSERT_TRUE(view_of_n1(rig).agent);
  EXPECT_EQ(view_of_n1(rig).agent->lasts, base::Duration::zero());
}

// The kubelet writes it, or who has its token.
TEST(Gather, AnAgentThatEndedInTheYear1HasEndedLongAgo) {
  ShellRig rig;
  fill(rig);
  auto pod = object_named<api::Pod>("agent-1", "compute-domain-nodes");
  pod.node = "n1";
  pod.ready_changed = base::parse_rfc3339("0001-01-01T00:00:00Z");
  rig.put(pod);
  ASSERT_TRUE(view_of_n1(rig).agent);
  EXPECT_GT(view_of_n1(rig).agent->lasts, 24h * 365);
}

// One that has waited for its turn for an hour has read no pods, as one that has just started.
TEST(Gather, AStatusWaitsForThePodsOfSharedClaimsAlsoWhenTheControllerHasWaitedForItsTurn) {
  ShellRig rig;
  rig.put(domain_named("train"));
  rig.put(claim_of("uid-train", "c", ""));
  rig.clock.advance(1h);
  rig.memory.decides(rig.clock.elapsed());
  const core::World world = gather_domain(rig.sources, "uid-train");
  EXPECT_TRUE(world.awaits_pods);
  for (const core::Action& action : core::reconcile(world).actions) {
    EXPECT_FALSE(std::holds_alternative<core::SetStatus>(action)) << core::to_string(action);
  }
}

}  // namespace
}  // namespace cdom::controller
