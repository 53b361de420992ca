// One claim that pods on several nodes of a clique share: what it is allocated from, and where its
// domain is.
#include <gmock/gmock.h>

#include "compute_domain/core/workloads.h"
#include "core/builders.h"

namespace cdom::core {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the builders
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

// One of `domain_name` that is allocated from the clique, with a pod on each node; "" for a node
// that is not known.
api::ResourceClaim shared(const std::string& name, const std::vector<std::string>& nodes) {
  api::ResourceClaim object = claim(name).on("");
  object.allocation->devices.front().pool = base::cat(api::kSharedPoolPrefix, kClique);
  object.allocation->devices.front().device = "shared-0";
  object.reserved_for.clear();
  for (const std::string& node : nodes) {
    const std::string pod = base::cat("pod-", object.reserved_for.size());
    object.reserved_for.push_back(
        {.resource = "pods", .name = pod, .uid = uid_of(pod), .node = node});
  }
  return object;
}

World world_with(const api::ResourceClaim& object, std::int64_t wants, int nodes) {
  World world = world_of(domain("train").wants(wants).finalized(), nodes);
  world.view.claims = {object};
  return world;
}

std::vector<std::string> members_in(const World& world) {
  std::vector<std::string> names;
  for (const api::NodeListEntry& entry : list_in(world).entries) {
    if (entry.member) names.push_back(entry.node);
  }
  return names;
}

TEST(SharedClaim, HasTheNodesOfItsPods) {
  const api::ResourceClaim object = shared("c", {"n2", "n1", "", "n2"});
  EXPECT_TRUE(is_shared(object));
  EXPECT_THAT(nodes_of(object), ElementsAre("n1", "n2"));
  EXPECT_FALSE(takes_seat(object));
  EXPECT_FALSE(is_shared(claim("c").on("n1")));
  EXPECT_FALSE(is_shared(claim("c")));
}

// A controller that has just started does not know them.
TEST(SharedClaim, HasNoStatusBeforeTheNodesOfItsPodsHaveBeenRead) {
  World world = world_with(shared("c", {"n1", ""}), 0, 2);
  write_list(world);
  world.awaits_pods = true;
  EXPECT_EQ(status_in(reconcile(world)), nullptr);
  world.known_for = 10s;
  EXPECT_NE(status_in(reconcile(world)), nullptr) << "they cannot be read";
  world.known_for = {};
  world.awaits_pods = false;
  EXPECT_NE(status_in(reconcile(world)), nullptr);
}

TEST(SharedClaim, OfTheClassThatIsForItIsForTheDomainOfItsWorkload) {
  api::ResourceClaim object = claim("c");
  object.spec.configs.clear();
  object.spec.requests = {{.name = "channel", .device_class = api::kSharedClass, .selectors = {}}};
  EXPECT_EQ(domain_ref_of(object).kind, DomainRef::Kind::Automatic);
}

TEST(SharedClaim, MakesOneDomainOfAllItsNodes) {
  World world = world_with(shared("c", {"n1", "n2", "n3"}), 0, 3);
  write_list(world);
  EXPECT_THAT(members_in(world), ElementsAre("n1", "n2", "n3"));
  for (const api::NodeListEntry& entry : list_in(world).entries) {
    EXPECT_EQ(entry.admits, (std::vector<api::Admission>{{"uid-c", 0}}));
  }
  EXPECT_TRUE(list_in(world).complete);
}

TEST(SharedClaim, IsWaitedForUntilAllItsPodsHaveTheirNodes) {
  World world = world_with(shared("c", {"n1", ""}), 0, 2);
  write_list(world);
  EXPECT_THAT(members_in(world), ElementsAre("n1"));
  EXPECT_FALSE(list_in(world).complete);
  // A domain that is told its size waits for no more than that.
  World sized = world_with(shared("c", {"n1", ""}), 1, 2);
  write_list(sized);
  EXPECT_TRUE(list_in(sized).complete);
}

TEST(SharedClaim, LosesANodeWithItsLastPodThere) {
  World world = world_with(shared("c", {"n1", "n2"}), 0, 2);
  write_list(world);
  world.view.claims = {shared("c", {"n1"})};
  world.now += 1min;
  write_list(world);
  EXPECT_THAT(members_in(world), ElementsAre("n1"));
}

// A controller that has just started has read no pod.
TEST(SharedClaim, StaysWhereItWasAdmittedUntilItsPodsHaveBeenRead) {
  World world = world_with(shared("c", {"n1", "n2"}), 2, 2);
  write_list(world);
  world.view.claims = {shared("c", {"", ""})};
  world.now += 1min;
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty());
}

// Anybody may bind a pod to any node.
TEST(SharedClaim, MakesNoMemberOfANodeOfAnotherClique) {
  World world = world_with(shared("c", {"n1", "n2"}), 0, 2);
  world.nodes["n2"] = idle_node("n2", "b.1");
  write_list(world);
  EXPECT_THAT(members_in(world), ElementsAre("n1"));
  EXPECT_TRUE(list_in(world).complete) << "nobody waits for it";
  EXPECT_THAT(reconcile_group(world, group_of(world, "b.1")).actions, IsEmpty());
}

TEST(SharedClaim, IsLetInByNoListOfAnotherClique) {
  for (const std::string clique : {kClique, "b.1"}) {
    CliqueWorld world{.now = kNow, .settings = {}, .clique = clique, .list = {}, .nodes = {}};
    world.settings.arrivals_pause = {};
    world.nodes["n1"] = idle_node("n1", clique);
    world.nodes["n1"].report->status.isolation = api::Isolation::Channel;
    world.domains = {{.uid = uid_of("train"), .domain = domain("train").finalized(), .claims = {}}};
    world.domains.front().claims = {shared("c", {"n1"})};
    const Plan plan = reconcile_clique(world);
    ASSERT_THAT(plan.actions, SizeIs(1));
    const auto& write = std::get<WriteNodeList>(plan.actions.front());
    const StoredList list = stored_list(write.desired);
    EXPECT_THAT(find_entry(*list.list, "n1")->admits, SizeIs(clique == kClique ? 1 : 0));
    EXPECT_THAT(list.list->channels, SizeIs(clique == kClique ? 1 : 0));
  }
}

TEST(SharedClaim, HasANodeByItsLabelUntilItHasReported) {
  World world = world_with(shared("c", {"n1"}), 0, 1);
  api::ComputeDomainNode report = *std::exchange(world.nodes["n1"].report, std::nullopt);
  const auto is_member = [&] {
    return !memberships_of(world.view, world.nodes, world.lists).empty();
  };
  EXPECT_TRUE(is_member());
  world.nodes["n1"].node->meta.labels.clear();
  EXPECT_FALSE(is_member());
  world.nodes["n1"].report = report;
  EXPECT_TRUE(is_member());
  world.nodes["n1"].node->meta.labels[api::kNodeCliqueLabel] = "b.1";
  EXPECT_TRUE(is_member()) << "the agent knows better";
}

TEST(SharedClaim, StaysOnANodeThatServesItWhenTheNodesCliqueChanges) {
  World world = world_with(shared("c", {"n1", "n2"}), 2, 2);
  write_list(world);
  report_ready(world);
  write_list(world);
  world.nodes["n2"].report->status.clique = "b.1";
  world.now += 1min;
  EXPECT_THAT(reconcile_group(world, group_of(world)).actions, IsEmpty());
  world.nodes["n2"].report->status.groups.clear();
  write_list(world);
  EXPECT_THAT(members_in(world), ElementsAre("n1")) << "it has not begun";
  EXPECT_THAT(reconcile_group(world, group_of(world, "b.1")).actions, IsEmpty());
}

SharedSliceWorld slice_world() { return {.clique = kClique, .has_nodes = true, .stored = {}}; }

api::ResourceSlice slice_written(const SharedSliceWorld& world) {
  const Plan plan = reconcile_shared_slice(world);
  if (plan.actions.size() != 1) return {};
  const auto* write = std::get_if<WriteSharedSlice>(&plan.actions.front());
  return write == nullptr ? api::ResourceSlice{} : write->desired;
}

TEST(SharedSlice, IsOfTheWholeCliqueAndNoNode) {
  const api::ResourceSlice slice = slice_written(slice_world());
  EXPECT_EQ(slice.clique, kClique);
  EXPECT_EQ(slice.node, "");
  EXPECT_EQ(slice.pool, base::cat("clique/", kClique));
  ASSERT_THAT(slice.devices, SizeIs(128));
  const auto& attributes = slice.devices.front().attributes;
  EXPECT_EQ(attributes.at(api::kAttributeType), api::AttributeValue("shared-channel"));
  EXPECT_EQ(attributes.at(api::kAttributeClique), api::AttributeValue(kClique));
  EXPECT_NE(shared_slice_name("u.1"), shared_slice_name("u.2"));
}

TEST(SharedSlice, IsWrittenOnceAndAgainWhenSomebodyHasChangedIt) {
  SharedSliceWorld world = slice_world();
  world.stored = slice_written(world);
  world.stored->meta.uid = "uid-slice";
  EXPECT_THAT(reconcile_shared_slice(world).actions, IsEmpty());
  world.stored->devices.pop_back();
  const api::ResourceSlice again = slice_written(world);
  EXPECT_EQ(again.meta.uid, "uid-slice");
  EXPECT_EQ(again.pool_generation, 2);
  EXPECT_THAT(again.devices, SizeIs(128));
}

TEST(SharedSlice, GoesWithTheLastNodeOfItsClique) {
  SharedSliceWorld world = slice_world();
  world.stored = slice_written(world);
  world.has_nodes = false;
  EXPECT_THAT(reconcile_shared_slice(world).actions,
              ElementsAre(Action{RemoveSharedSlice{world.stored->meta}}));
  world.stored.reset();
  EXPECT_THAT(reconcile_shared_slice(world).actions, IsEmpty());
}

WorkloadsWorld waiting_for_nodes(std::vector<base::Duration> since) {
  WorkloadsWorld world;
  world.now = kElapsed;
  world.ns = "team-a";
  world.nodeless_since = std::move(since);
  return world;
}

std::vector<ReadPods> reads_in(const Plan& plan) {
  std::vector<ReadPods> reads;
  for (const Action& action : plan.actions) {
    if (const auto* read = std::get_if<ReadPods>(&action)) reads.push_back(*read);
  }
  return reads;
}

TEST(SharedClaim, HasThePodsReadOnceNoMoreOfThemCome) {
  const Plan early = reconcile_workloads(waiting_for_nodes({kElapsed - 20ms}));
  EXPECT_THAT(reads_in(early), IsEmpty());
  EXPECT_EQ(early.look_again, base::Duration(30ms));
  const Plan settled = reconcile_workloads(waiting_for_nodes({kElapsed - 90ms, kElapsed - 50ms}));
  EXPECT_THAT(reads_in(settled), ElementsAre(ReadPods{"team-a", true}));
  const Plan stream = reconcile_workloads(waiting_for_nodes({kElapsed - 250ms, kElapsed}));
  EXPECT_THAT(reads_in(stream), SizeIs(1));
}

TEST(SharedClaim, HasThePodsReadAtMostOnceASecondAndMoreSeldomInVain) {
  WorkloadsWorld world = waiting_for_nodes({kElapsed - 1min});
  world.pods_read = kElapsed - 400ms;
  EXPECT_EQ(reconcile_workloads(world).look_again, base::Duration(600ms));
  world.vain_reads = 50;
  EXPECT_EQ(reconcile_workloads(world).look_again, base::Duration(7600ms));
}

}  // namespace
}  // namespace cdom::core
