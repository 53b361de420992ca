// A node that isolates domains by channel: its clique's daemon runs whether or not there is a
// claim.
#include "core/node/node_scene.h"

namespace cdom::core {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

NodeScene by_channel() {
  NodeScene scene;
  scene.world.settings.isolation = api::Isolation::Channel;
  return scene;
}
ListBuilder of_clique(std::int64_t count = 1) { return ListBuilder("", count); }

TEST(StandingGroup, ItsDaemonRunsBeforeThereIsAClaim) {
  NodeScene scene = by_channel();
  scene.settle().show(of_clique(2)).settle();
  EXPECT_EQ(scene.starts, 1);
  EXPECT_EQ(scene.report().isolation, api::Isolation::Channel);
  scene.daemon_ready({1}).settle();
  ASSERT_NE(scene.group(""), nullptr);
  EXPECT_EQ(scene.group("")->state, api::DaemonState::Ready);
  EXPECT_EQ(scene.group("")->channels, "");
}

TEST(StandingGroup, DoesNotStartForAListOfAnotherBootOrWithoutThisNodeAsAMember) {
  NodeScene scene = by_channel();
  api::NodeList list = of_clique(2);
  list.entries.front().boot_id = "boot-0";
  scene.settle().show(list).settle();
  EXPECT_EQ(scene.starts, 0);
  list.entries.front().boot_id = kBoot;
  list.entries.front().member = false;
  scene.show(list).settle();
  EXPECT_EQ(scene.starts, 0);
}

// The controller's word to the domain has the command.
TEST(StandingGroup, AClaimOnANodeOfNoListIsToldOfItsLabel) {
  NodeScene scene = by_channel();
  scene.domains = {domain_train()};
  scene.settle().prepare("a").settle().advance(std::chrono::seconds(40)).settle();
  EXPECT_THAT(scene.error("a"), HasSubstr("its label nvidia.com/gpu.clique has to name"));
}

TEST(StandingGroup, AClaimGetsTheChannelThatTheListSaysAndStartsNothing) {
  NodeScene scene = by_channel();
  scene.settle().show(of_clique(2)).settle().daemon_ready({1}).settle();
  scene.show(of_clique(2).admits("a", 7)).prepare("a").settle();
  EXPECT_TRUE(scene.is_prepared("a"));
  EXPECT_EQ(scene.world.checkpoint.claims.at("a-uid").channels, (ChannelRange{7, 1}));
  EXPECT_EQ(scene.starts, 1);
  EXPECT_EQ(scene.group("")->channels, "7");
  EXPECT_THAT(scene.group("")->claims, SizeIs(1));
}

// Its container may be next: nobody else may have the channel.
TEST(StandingGroup, TheChannelOfAClaimThatWaitsIsToldToo) {
  NodeScene scene = by_channel();
  scene.settle().show(of_clique(2)).settle().daemon_ready({1}).settle();
  scene.daemon_is(base::DaemonPhase::Recovering).advance(scene.world.times.report_hold).settle();
  scene.show(of_clique(2).admits("a", 7)).prepare("a").settle();
  EXPECT_FALSE(scene.is_prepared("a"));
  ASSERT_NE(scene.group(""), nullptr);
  EXPECT_EQ(scene.group("")->channels, "7");
}

TEST(StandingGroup, ItsDaemonOutlivesTheLastClaim) {
  NodeScene scene = by_channel();
  scene.settle().show(of_clique()).settle().daemon_ready().settle();
  scene.show(of_clique().admits("a", 7)).prepare("a").settle();
  scene.unprepare("a").settle();
  EXPECT_TRUE(scene.unprepared.contains("a-uid"));
  EXPECT_EQ(scene.stops, 0);
  EXPECT_EQ(scene.group("")->channels, "");
}

TEST(StandingGroup, AllChannelsAreNotToBeHad) {
  NodeScene scene = by_channel();
  scene.settle().show(of_clique().admits("a", 7)).settle().daemon_ready().settle();
  scene.claim(claim_object("a", R"({
    "apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomainChannelConfig",
    "domainID":"train-uid","allocationMode":"All"})"));
  scene.prepare("a").settle();
  ASSERT_TRUE(scene.failed.contains("a-uid"));
  EXPECT_TRUE(scene.failed["a-uid"].permanent);
  EXPECT_THAT(scene.failed["a-uid"].error, HasSubstr("the others belong to other domains"));
}

TEST(StandingGroup, OffersSeveralSeatsAndNoneWhileItChangesOver) {
  NodeScene scene = by_channel();
  scene.settle();
  ASSERT_THAT(scene.world.slices.objects, SizeIs(1));
  EXPECT_THAT(scene.world.slices.objects.front().devices, SizeIs(8));
  scene.show(of_clique()).settle().daemon_ready().settle();
  scene.show(of_clique().admits("a", 7)).prepare("a").settle();
  scene.world.settings.isolation = api::Isolation::Domain;
  scene.settle();
  EXPECT_THAT(scene.world.slices.objects.front().devices, SizeIs(0));
  EXPECT_EQ(scene.report().isolation, api::Isolation::Channel);
  EXPECT_EQ(scene.report().next_isolation, api::Isolation::Domain);
  EXPECT_EQ(scene.stops, 0);
}

TEST(StandingGroup, EndsWhenTheNodeIsDrainedAndIsToldToIsolateByDomain) {
  NodeScene scene = by_channel();
  scene.settle().show(of_clique()).settle().daemon_ready().settle();
  scene.show(of_clique().admits("a", 7)).prepare("a").settle();
  scene.world.settings.isolation = api::Isolation::Domain;
  scene.settle().unprepare("a").settle();
  EXPECT_EQ(scene.stops, 1);
  EXPECT_EQ(scene.report().isolation, api::Isolation::Domain);
  EXPECT_EQ(scene.report().next_isolation, std::nullopt);
  EXPECT_EQ(scene.group("")->state, api::DaemonState::Stopped);
  EXPECT_THAT(scene.world.slices.objects.front().devices, SizeIs(1));
}

TEST(StandingGroup, EndsOnlyWhenItsDaemonIsNotStartedAgain) {
  NodeScene scene;
  scene.world.settings.isolation = api::Isolation::Channel;
  scene.settle().show(ListBuilder("", 2)).settle().daemon_ready({1}).settle();
  scene.daemon_dies();
  scene.world.daemon->starts_again = true;
  scene.world.settings.isolation = api::Isolation::Domain;
  scene.settle();
  EXPECT_EQ(scene.stops, 1);
  EXPECT_FALSE(scene.world.checkpoint.served);
  EXPECT_EQ(scene.starts, 1);
}

TEST(StandingGroup, ADomainsDaemonGoesOnUntilItsClaimsEnd) {
  NodeScene scene;
  scene.settle().show(train().admits("a")).prepare("a").settle().daemon_ready().settle();
  scene.world.settings.isolation = api::Isolation::Channel;
  scene.settle().show(of_clique()).settle();
  EXPECT_EQ(scene.report().isolation, api::Isolation::Domain);
  EXPECT_EQ(scene.stops, 0);
  scene.unprepare("a").settle();
  EXPECT_EQ(scene.report().isolation, api::Isolation::Channel);
  EXPECT_EQ(scene.starts, 2);
}

TEST(StandingGroup, ItsDaemonIsTakenOverWithoutACheckpoint) {
  NodeScene scene = by_channel();
  scene.settle().show(of_clique()).settle().daemon_ready().settle();
  scene.world.checkpoint = {};
  scene.world.checkpoint.boot_id = kBoot;
  scene.restart_agent().settle();
  EXPECT_EQ(scene.starts, 1);
  EXPECT_EQ(scene.stops, 0);
  ASSERT_TRUE(scene.world.checkpoint.served);
  EXPECT_TRUE(scene.world.checkpoint.served->started);
}

TEST(StandingGroup, TellsWhichReleasesItKnowsOfWhenADomainWaits) {
  NodeScene scene = by_channel();
  scene.settle().show(of_clique()).settle().daemon_ready().settle();
  const int writes = scene.report_writes;
  api::NodeList list = of_clique();
  list.releases = 1;
  scene.show(list).settle();
  EXPECT_EQ(scene.report_writes, writes);
  list.scarce = true;
  scene.show(list).settle();
  EXPECT_EQ(scene.report_writes, writes + 1);
  EXPECT_EQ(scene.group("")->releases, 1);
}

// Its peers are to run all the time, whether or not anybody needs them.
TEST(StandingGroup, AFirstClaimGivesAPeerThatIsUnreachableNoMoreTime) {
  NodeScene scene = by_channel();
  scene.settle().show(of_clique(2)).settle().daemon_ready().advance(minutes(1)).settle();
  ASSERT_THAT(scene.group("")->unreachable, testing::ElementsAre("n01"));
  scene.world.asked_since = scene.world.elapsed;
  scene.show(of_clique(2).admits("a", 7)).prepare("a").settle();
  EXPECT_TRUE(scene.is_prepared("a"));
  EXPECT_THAT(scene.group("")->unreachable, testing::ElementsAre("n01"));
}

}  // namespace
}  // namespace cdom::core
