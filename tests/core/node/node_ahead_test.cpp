// The daemon that runs ahead of its claims: from the moment at which the list admits one here,
// before kubelet asks for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/node/node_scene.h"

namespace cdom::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A node on which the daemon runs ahead of the claim "a".
NodeScene ahead() {
  NodeScene scene;
  scene.settle().show(train(2).admits("a")).settle().daemon_ready({1}).settle();
  return scene;
}

ListBuilder serve() { return ListBuilder("serve-uid", 2); }

api::NodeList of_term(api::NodeList list, std::int64_t term) {
  list.entries.front().term = term;
  return list;
}

TEST(DaemonAhead, StartsBeforeKubeletAsks) {
  NodeScene scene;
  scene.settle();
  scene.history.clear();
  scene.show(train(2).admits("a")).settle();
  EXPECT_THAT(scene.history,
              ElementsAre("write the checkpoint (0 claims)", HasSubstr("write the hosts file"),
                          HasSubstr("start the daemon of IMEX group")));
  EXPECT_THAT(scene.injected, IsEmpty());
}

TEST(DaemonAhead, IsToldOfOnceWithTheClaimThatItRunsFor) {
  NodeScene scene = ahead();
  scene.advance(minutes(5)).settle();
  EXPECT_EQ(scene.report_writes, 1) << "that there is nothing here yet";
  EXPECT_EQ(scene.group(), nullptr);
  scene.prepare("a").settle();
  EXPECT_TRUE(scene.is_prepared("a"));
  EXPECT_EQ(scene.starts, 1);
  EXPECT_EQ(scene.report_writes, 2);
  ASSERT_NE(scene.group(), nullptr);
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
  EXPECT_THAT(scene.group()->claims, ElementsAre("a-uid"));
}

TEST(DaemonAhead, DoesNotStartWithoutAnAdmissionThatHolds) {
  const auto starts_for = [](const api::NodeList& list) {
    NodeScene scene;
    return scene.settle().show(list).settle().starts;
  };
  EXPECT_EQ(starts_for(train(2).admits("a")), 1);
  EXPECT_EQ(starts_for(train(2)), 0) << "admits nothing";
  EXPECT_EQ(starts_for(train(2).admits("a").growing()), 0);
  EXPECT_EQ(starts_for(train(2).admits("a").without_fabric()), 0);
  api::NodeList list = train(2).admits("a");
  list.entries.front().boot_id = "boot-0";
  EXPECT_EQ(starts_for(list), 0);
  list.entries.front().boot_id = "";
  EXPECT_EQ(starts_for(list), 0) << "a boot that is not known may be another";
  list = train(2).admits("a");
  list.entries.front().member = false;
  EXPECT_EQ(starts_for(list), 0);
  list = train(2).admits("a");
  list.entries.front().slot = 18;
  EXPECT_EQ(starts_for(list), 0);
}

TEST(DaemonAhead, EndsWithTheAdmissionAndFreesItsSlot) {
  NodeScene scene = ahead();
  api::NodeList list = train(2);
  list.entries.front().member = false;
  scene.show(list).settle();
  EXPECT_EQ(scene.stops, 1);
  EXPECT_FALSE(scene.world.checkpoint.served);
  ASSERT_NE(scene.group(), nullptr);
  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
  EXPECT_EQ(scene.group()->term, 1);
}

TEST(DaemonAhead, IsNotSaidToHaveStoppedBeforeItHas) {
  NodeScene scene = ahead();
  api::NodeList list = train(2);
  list.entries.front().member = false;
  scene.daemon_ends_slowly().show(list).settle();
  EXPECT_EQ(scene.stops, 1);
  EXPECT_EQ(scene.group(), nullptr);
  EXPECT_TRUE(scene.world.checkpoint.served);
  scene.daemon_has_ended().settle();
  ASSERT_NE(scene.group(), nullptr);
  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
}

TEST(DaemonAhead, EndsWhenTheListIsGone) {
  NodeScene scene = ahead();
  scene.show_no_lists().settle();
  EXPECT_EQ(scene.stops, 1);
  EXPECT_FALSE(scene.world.checkpoint.served);
}

TEST(DaemonAhead, OutlivesAnAgentThatHasNotSeenTheListYet) {
  NodeScene scene = ahead();
  const std::vector<SeenList> lists = scene.world.lists;
  scene.restart_agent().show_no_lists();
  scene.world.lists_synced = false;
  scene.settle();
  EXPECT_EQ(scene.stops, 0);
  scene.world.lists_synced = true;
  scene.world.lists = lists;
  scene.settle().prepare("a").settle();
  EXPECT_TRUE(scene.is_prepared("a"));
  EXPECT_EQ(scene.starts, 1);
  EXPECT_EQ(scene.stops, 0);
}

TEST(DaemonAhead, IsNotBegunAnewForAClaimThatHasEndedHere) {
  NodeScene scene = serving();
  scene.unprepare("a").settle().advance(minutes(5)).settle();
  EXPECT_EQ(scene.starts, 1) << "its claim is still allocated";
  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
  scene.world.report.objects.front().status.groups.clear();
  scene.settle();
  ASSERT_EQ(scene.starts, 1) << "also where the report was written by hand";
  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
  scene.show(of_term(train().admits("b"), 2)).settle();
  EXPECT_EQ(scene.starts, 2);
}

// Else that report would go on saying so.
TEST(DaemonAhead, DoesNotStartWhileAnEarlierDaemonIsSaidToRun) {
  NodeScene scene = serving();
  const api::ComputeDomainNode ready = scene.world.report.objects.front();
  scene.unprepare("a").settle();
  scene.world.report.objects = {ready};
  scene.world.report.current = false;  // what says that it has stopped is under way
  scene.show(of_term(train().admits("b"), 2)).settle();
  EXPECT_EQ(scene.starts, 1);
  scene.world.report.current = true;
  scene.settle();
  EXPECT_EQ(scene.starts, 2);
  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
  EXPECT_EQ(scene.group()->term, 1);
}

TEST(DaemonAhead, FollowsItsTerm) {
  NodeScene scene = ahead();
  scene.show(of_term(train(2).admits("b"), 2)).settle();
  EXPECT_EQ(scene.starts, 1);
  EXPECT_EQ(scene.world.checkpoint.served->term, 2);
}

TEST(DaemonAhead, StartsAgainInAnotherSlot) {
  NodeScene scene = ahead();
  api::NodeList list = train(2).admits("a");
  list.entries.front().slot = 5;
  list.entries.front().term = 2;
  scene.show(list).settle();
  EXPECT_EQ(scene.stops, 1);
  EXPECT_EQ(scene.starts, 2);
  EXPECT_EQ(scene.world.daemon->slot, 5);
}

TEST(DaemonAhead, MakesWayForAClaimThatKubeletAsksFor) {
  NodeScene scene = ahead();
  api::ResourceClaim claim = claim_object("b", R"({
    "apiVersion":"resource.nvidia.com/v1beta1","kind":"ComputeDomainChannelConfig",
    "domainID":"serve-uid","allocationMode":"Single"})");
  scene.claim(claim).show(serve().admits("b")).settle();
  EXPECT_EQ(scene.stops, 0) << "nobody has asked for it";
  scene.prepare("b").settle();
  EXPECT_EQ(scene.stops, 1);
  scene.daemon_ready({1}).settle();
  EXPECT_TRUE(scene.is_prepared("b"));
  scene.advance(minutes(5)).settle();
  EXPECT_EQ(scene.starts, 2);
  EXPECT_EQ(scene.stops, 1);
}

TEST(DaemonAhead, IsToldOfWhenItFailsAndFromThenOn) {
  NodeScene scene = ahead();
  scene.daemon_dies("exited with 7").advance(seconds(5)).settle();
  ASSERT_NE(scene.group(), nullptr);
  EXPECT_EQ(scene.group()->state, api::DaemonState::Failed);
  EXPECT_THAT(scene.group()->message, HasSubstr("exited with 7"));
  scene.advance(minutes(1)).settle().daemon_ready({1}).advance(seconds(5)).settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
}

TEST(DaemonAhead, ComplainsOfNobodyWhenItIsToldOf) {
  NodeScene scene;
  scene.settle().show(train(2).admits("a")).settle().daemon_dies().advance(seconds(5)).settle();
  scene.advance(minutes(1)).settle().daemon_ready().advance(minutes(1)).settle();
  ASSERT_EQ(scene.group()->state, api::DaemonState::Ready);
  EXPECT_THAT(scene.group()->unreachable, IsEmpty()) << "its peer's claim may not have begun";
}

TEST(DaemonAhead, EndsBeforeTheNodeChangesOver) {
  NodeScene scene = ahead();
  scene.world.settings.isolation = api::Isolation::Channel;
  scene.settle();
  EXPECT_EQ(scene.stops, 1);
  EXPECT_EQ(scene.report().isolation, api::Isolation::Channel);
}

TEST(DaemonAhead, EndsWithItsSupervisor) {
  NodeScene scene = ahead();
  scene.world.daemon.reset();
  scene.world.supervisor_error = "does not answer";
  api::NodeList list = train(2);
  list.entries.front().member = false;
  scene.show(list).settle();
  EXPECT_TRUE(scene.world.checkpoint.served) << "it may still run";
  scene.world.supervisor_has_ended = true;
  scene.settle();
  EXPECT_EQ(scene.stops, 1) << "a successor starts it no more";
  EXPECT_FALSE(scene.world.checkpoint.served);
}

TEST(DaemonAhead, SaysToTheClaimThatItMakesWayForWhatThatWaitsFor) {
  NodeScene scene = ahead();
  scene.daemon_ends_slowly().show(serve().admits("b")).prepare("b").settle();
  EXPECT_FALSE(scene.is_prepared("b"));
  EXPECT_THAT(scene.reason("b"), HasSubstr("is stopping the IMEX daemon of another ComputeDomain"));
  EXPECT_THAT(scene.reason("b"), Not(HasSubstr("not known here")));
}

TEST(DaemonAhead, SaysToThatClaimWhatKeepsItFromBeingStopped) {
  NodeScene silent = ahead();
  silent.world.daemon.reset();
  silent.world.supervisor_error = "connection refused";
  silent.show(serve().admits("b")).prepare("b").settle();
  EXPECT_THAT(silent.reason("b"), HasSubstr("does not answer: connection refused"));

  NodeScene failing = ahead();
  failing.world.setbacks[kDaemonSetback] = {"cannot write the hosts file",
                                            failing.world.elapsed + minutes(1)};
  failing.show(serve().admits("b")).prepare("b").settle();
  EXPECT_EQ(failing.reason("b"), "cannot write the hosts file");
}

TEST(DaemonAhead, IsNotStoppedForAClaimThatCannotBeginBefore) {
  NodeScene scene = ahead();
  scene.show(serve().admits("b")).prepare("a").prepare("b").settle();
  EXPECT_EQ(scene.stops, 0);
  EXPECT_TRUE(scene.is_prepared("a"));
}

TEST(DaemonAhead, BeginsAnewWhereTermsAreCountedAnew) {
  NodeScene scene;
  scene.settle().show(of_term(train(2).admits("a"), 5)).settle().daemon_ready({1}).settle();
  scene.show(train(2).admits("a")).settle();
  EXPECT_EQ(scene.stops, 1);
  scene.daemon_ready({1}).prepare("a").settle().unprepare("a").settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
  EXPECT_EQ(scene.group()->term, 1) << "else the slot would stay taken";
}

TEST(DaemonAhead, HasNoMemoryToLose) {
  NodeScene scene = ahead();
  for (int i = 0; i < 2; ++i) {
    scene.daemon_dies().advance(seconds(5)).settle();
    ASSERT_NE(scene.group(), nullptr);
    EXPECT_EQ(scene.group()->state, api::DaemonState::Failed);
    EXPECT_THAT(scene.group()->message, Not(HasSubstr("memory")));
    scene.advance(minutes(1)).settle().daemon_ready({1}).advance(seconds(5)).settle();
    EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
  }
}

// Its peers start when they are asked for a claim: an older agent's do.
TEST(DaemonAhead, HasNoMemoryToLoseEitherWhenItsFirstClaimHasOnlyBegun) {
  for (const bool is_replaced : {false, true}) {
    NodeScene scene = ahead();
    scene.daemon_dies().advance(seconds(5)).settle();
    scene.advance(minutes(1)).settle().daemon_ready({1}).advance(seconds(5)).settle();
    ASSERT_EQ(scene.group()->state, api::DaemonState::Ready);
    if (is_replaced) {
      scene.daemon_is_another(base::DaemonPhase::Starting);
    } else {
      scene.daemon_dies();
    }
    scene.prepare("a").settle();
    ASSERT_FALSE(scene.is_prepared("a"));
    EXPECT_THAT(scene.group()->message, Not(HasSubstr("memory")));
    scene.advance(seconds(5)).settle();
    EXPECT_THAT(scene.group()->message, Not(HasSubstr("memory")));
  }
}

// Its containers run while kubelet has it prepared again.
TEST(DaemonAhead, IsNotTakenForOneWithoutUsersWhileAKnownClaimIsPreparedAgain) {
  NodeScene scene = serving();
  scene.world.checkpoint.claims.at("a-uid").devices.clear();  // taken over
  const SeenDaemon daemon = *scene.world.daemon;
  scene.world.daemon.reset();
  scene.world.supervisor_error = "connection refused";
  scene.world.supervisor_silent_since = scene.world.elapsed;
  scene.prepare("a").settle();
  ASSERT_FALSE(scene.is_prepared("a"));
  scene.world.daemon = daemon;
  scene.daemon_is_another(base::DaemonPhase::Starting).settle();
  EXPECT_THAT(scene.group()->message, HasSubstr("memory"));
}

TEST(DaemonAhead, GivesItsPeersTheirTimeFromWhenItIsNeeded) {
  NodeScene scene;
  scene.settle().show(train(2).admits("a")).settle().daemon_ready().advance(minutes(1)).settle();
  scene.world.asked_since = scene.world.elapsed;
  scene.prepare("a").settle();
  EXPECT_TRUE(scene.is_prepared("a"));
  EXPECT_EQ(scene.group(), nullptr) << "it waits for its peer";
  scene.advance(seconds(1)).daemon_ready({1}).settle();
  ASSERT_NE(scene.group(), nullptr);
  EXPECT_THAT(scene.group()->unreachable, IsEmpty());
  EXPECT_EQ(scene.report_writes, 2);
}

TEST(DaemonAhead, GoesOnWhenTheCheckpointIsLost) {
  NodeScene scene = ahead();
  scene.world.checkpoint = {};
  scene.restart_agent().settle();
  EXPECT_EQ(scene.stops, 0);
  scene.prepare("a").settle();
  EXPECT_TRUE(scene.is_prepared("a"));
  EXPECT_EQ(scene.starts, 1);
}

TEST(DaemonAhead, IsStoppedWhenTheCheckpointIsLostAndNobodyAwaitsAClaim) {
  api::NodeList without = train(2);
  without.entries.front().member = false;
  for (const bool list_is_gone : {false, true}) {
    NodeScene scene = ahead();
    scene.world.checkpoint = {};
    if (list_is_gone) scene.show_no_lists();
    if (!list_is_gone) scene.show(without);
    scene.restart_agent().settle();
    EXPECT_EQ(scene.stops, 1);
    EXPECT_FALSE(scene.world.checkpoint.served);
  }
}

TEST(DaemonAhead, IsNotToldFromOneWithClaimsWhereTheyCannotBeRead) {
  NodeScene scene = ahead();
  scene.world.checkpoint = {};
  scene.world.knows_held = false;
  scene.show_no_lists().restart_agent().settle();
  EXPECT_EQ(scene.stops, 0);
}

TEST(DaemonAhead, DoesNotStartWhereClaimsMayHaveBeenLost) {
  NodeScene scene;
  scene.world.held = {{claim_ref("lost"), {0, 1}}};
  scene.settle().show(train(2).admits("a")).settle();
  EXPECT_EQ(scene.starts, 0);
  scene.world.held.clear();
  scene.world.knows_held = false;
  scene.settle();
  EXPECT_EQ(scene.starts, 0);
  scene.world.knows_held = true;
  scene.settle();
  EXPECT_EQ(scene.starts, 1);
}

TEST(DaemonAhead, DoesNotStandForAdminAccess) {
  NodeScene scene = serving();
  api::ResourceClaim admin = claim_object("admin");
  admin.allocation->devices[0].admin_access = true;
  scene.claim(admin).prepare("admin").settle().unprepare("a").settle();
  EXPECT_EQ(scene.stops, 1);
  EXPECT_EQ(scene.starts, 1);
  EXPECT_TRUE(scene.world.checkpoint.claims.contains("admin-uid"));
  EXPECT_FALSE(has_claims(scene.world.checkpoint)) << "else its peers' time would have begun";
}

}  // namespace
}  // namespace cdom::core
