#include "core/node/node_scene.h"

namespace cdom::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Checkpoint, IsWorthKeepingForClaimsADaemonOrAWord) {
  EXPECT_FALSE(is_worth_keeping({}));
  EXPECT_FALSE(is_worth_keeping({.agent = "a", .boot_id = "boot-1", .clique = "rack-1.7"}));
  EXPECT_TRUE(is_worth_keeping({.claims = {{"a-uid", PreparedClaim{}}}}));
  EXPECT_TRUE(is_worth_keeping({.served = ServedImexGroup{}}));
  EXPECT_TRUE(is_worth_keeping({.stopped = {{"g", StoppedImexGroup{}}}}));
  EXPECT_TRUE(is_worth_keeping({.later = R"({"laterField":1})"})) << "a later version may need it";
}

TEST(NodeUnprepare, SucceedsForAClaimThatIsNotKnown) {
  NodeScene scene;
  scene.settle().unprepare("a").settle().unprepare("a").settle();
  EXPECT_TRUE(scene.unprepared.contains("a-uid"));
}

TEST(NodeUnprepare, OfAClaimThatIsNotKnownRemovesItsChannelFirst) {
  NodeScene scene;
  scene.settle().injected = {"a-uid"};
  scene.world.setbacks["a-uid"] = {"cannot remove it", scene.world.elapsed + seconds(1)};
  scene.unprepare("a").settle();
  EXPECT_FALSE(scene.unprepared.contains("a-uid"));
  EXPECT_EQ(scene.reason("a"), "cannot remove it");
  scene.advance(seconds(1)).settle();
  EXPECT_TRUE(scene.unprepared.contains("a-uid"));
  EXPECT_THAT(scene.injected, testing::IsEmpty());
}

TEST(NodeUnprepare, OfTheLastClaimStopsTheDaemonAndSaysStopped) {
  NodeScene scene = serving();
  scene.unprepare("a").settle();

  EXPECT_TRUE(scene.unprepared.contains("a-uid"));
  EXPECT_THAT(scene.injected, IsEmpty());
  EXPECT_EQ(scene.stops, 1);
  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
  EXPECT_EQ(scene.group()->slot, 0);
  EXPECT_EQ(scene.group()->term, 1);
  EXPECT_THAT(scene.group()->claims, IsEmpty());
}

TEST(NodeUnprepare, OfTheLastClaimLeavesNoDaemonToOneThatIsAdmittedAtTheSameMoment) {
  NodeScene scene = serving();
  scene.prepare("b").settle();
  scene.show(train().admits("b")).unprepare("a").settle();
  EXPECT_FALSE(scene.is_prepared("b")) << "by the daemon that has been stopped";
  EXPECT_EQ(scene.starts, 2);
  scene.daemon_ready().settle();
  EXPECT_TRUE(scene.is_prepared("b"));
}

TEST(NodeUnprepare, OfTheLastClaimLeavesNoDaemonThatIsStoppingToTheNext) {
  NodeScene scene = serving();
  scene.daemon_ends_slowly().unprepare("a").settle();
  scene.show(train().admits("b")).prepare("b").settle();
  EXPECT_FALSE(scene.is_prepared("b"));
  EXPECT_THAT(scene.reason("b"), HasSubstr("is stopping, and starts again"));
  scene.daemon_has_ended().settle().daemon_ready().settle();
  EXPECT_EQ(scene.starts, 2);
  EXPECT_TRUE(scene.is_prepared("b"));
}

TEST(NodeUnprepare, SaysStoppedWithoutFabricToo) {
  NodeScene scene;
  scene.world.fabric.clique = "";
  scene.settle().show(train().admits("a").without_fabric()).prepare("a").settle();
  scene.unprepare("a").settle();
  const api::ImexGroupReport* group = api::find_group(scene.report(), "no-fabric");
  ASSERT_NE(group, nullptr);
  EXPECT_EQ(group->state, api::DaemonState::Stopped);
  EXPECT_EQ(group->term, 1);

  scene.show_no_lists().settle();
  EXPECT_EQ(api::find_group(scene.report(), "no-fabric"), nullptr);
}

TEST(NodeUnprepare, OfOneOfTwoClaimsLeavesTheDaemonAlone) {
  NodeScene scene = serving();
  scene.show(train().admits("a").admits("b")).prepare("b").settle();
  ASSERT_TRUE(scene.is_prepared("b"));
  scene.unprepare("a").settle();

  EXPECT_EQ(scene.stops, 0);
  EXPECT_THAT(scene.group()->claims, ElementsAre("b-uid"));
}

TEST(NodeUnprepare, AnswersOnlyWhenTheDaemonHasEnded) {
  NodeScene scene = serving();
  scene.daemon_ends_slowly().unprepare("a").settle();
  EXPECT_FALSE(scene.unprepared.contains("a-uid"));
  EXPECT_THAT(scene.reason("a"), HasSubstr("is stopping"));
  EXPECT_NE(scene.group()->state, api::DaemonState::Stopped);

  scene.daemon_has_ended().settle();
  EXPECT_TRUE(scene.unprepared.contains("a-uid"));
  EXPECT_EQ(scene.stops, 1);
}

// Its slot may be another node's by then.
TEST(NodeUnprepare, OfTheLastClaimStopsADaemonThatHasEndedAndWouldStartAgain) {
  for (const std::optional<bool> starts_again : {std::optional(true), std::optional<bool>()}) {
    NodeScene scene = serving();
    scene.daemon_dies();
    scene.world.daemon->starts_again = starts_again;
    const NodePlan plan = scene.unprepare("a").plan();
    EXPECT_TRUE(scene.world.checkpoint.served);
    EXPECT_TRUE(std::ranges::any_of(plan.on_node, [](const NodeIntent& intent) {
      return std::holds_alternative<StopDaemon>(intent);
    }));
    EXPECT_TRUE(std::ranges::none_of(plan.on_node, [](const NodeIntent& intent) {
      return std::holds_alternative<AnswerUnprepared>(intent);
    })) << "the stop may fail";
    for (const ServerIntent& intent : plan.on_server) {
      const auto* publish = std::get_if<PublishReport>(&intent);
      if (publish == nullptr) continue;
      for (const auto& group : publish->report.groups) {
        EXPECT_NE(group.state, api::DaemonState::Stopped);
      }
    }
    scene.settle();
    EXPECT_EQ(scene.stops, 1);
    EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
    EXPECT_TRUE(scene.unprepared.contains("a-uid"));
  }
  NodeScene scene = serving();
  scene.daemon_dies();
  scene.world.daemon->starts_again = false;
  scene.unprepare("a").settle();
  EXPECT_EQ(scene.stops, 0);
  EXPECT_TRUE(scene.unprepared.contains("a-uid"));
}

// As an agent has left it that took a daemon for gone which had ended by itself.
TEST(NodeStopped, EndsADaemonThatRunsOrMayRunInASlotThatWasGivenUp) {
  for (const bool runs : {true, false}) {
    NodeScene scene = serving();
    const std::string group = scene.group()->group;
    scene.unprepare("a").settle();
    ASSERT_EQ(scene.stops, 1);
    SeenDaemon& daemon = *scene.world.daemon;
    daemon.group = group;
    daemon.running = runs;
    daemon.starts_again = !runs;
    daemon.phase = runs ? base::DaemonPhase::Ready : base::DaemonPhase::Failed;
    scene.settle();
    EXPECT_EQ(scene.stops, 2);
    scene.advance(minutes(1)).settle();
    EXPECT_EQ(scene.stops, 2);
  }
}

// A successor of its supervisor has started it while the next group was served already.
TEST(NodeStopped, EndsADaemonThatRunsOnceMoreWhileAnotherGroupIsServed) {
  NodeScene scene = serving();
  const std::string group = scene.group()->group;
  const SeenDaemon daemon = *scene.world.daemon;
  scene.unprepare("a").settle();
  ASSERT_EQ(scene.stops, 1);
  scene.world.daemon.reset();
  scene.world.supervisor_error = "connection refused";
  scene.show_no_lists();  // none has it any more: that it was stopped is known here only
  scene.show(ListBuilder("other-uid").admits("b")).prepare("b").settle();
  ASSERT_TRUE(scene.world.checkpoint.served);
  ASSERT_NE(scene.world.checkpoint.served->group, group);

  scene.world.daemon = daemon;
  EXPECT_THAT(scene.reason("b"), HasSubstr("IMEX group " + group + " still runs"));
  scene.settle();
  EXPECT_EQ(scene.stops, 2);
  scene.daemon_has_ended().settle().daemon_ready().settle();
  EXPECT_TRUE(scene.is_prepared("b"));
  EXPECT_FALSE(scene.world.checkpoint.stopped.contains(group));
}

// Its claim is still in the stored report, as while the API server is away.
TEST(NodeStopped, IsNotTakenOverWhenItRunsOnceMore) {
  NodeScene scene = serving();
  const SeenDaemon daemon = *scene.world.daemon;
  const auto report = scene.world.report;
  scene.unprepare("a").settle();
  scene.world.daemon = daemon;
  scene.world.report = report;
  scene.settle();
  EXPECT_EQ(scene.stops, 2);
  EXPECT_FALSE(scene.world.checkpoint.served);
  EXPECT_TRUE(scene.world.checkpoint.claims.empty());
}

TEST(NodeStopped, IsNotSaidOfASlotWhoseDaemonMayStartAgainThoughTheCheckpointIsLost) {
  NodeScene scene;
  api::NodeList list = train(1);
  list.entries.front().member = false;
  list.entries.front().admits = {};
  SeenDaemon& daemon = *scene.world.daemon;
  daemon.group = list.group;
  daemon.phase = base::DaemonPhase::Failed;
  daemon.starts_again = true;
  scene.settle().show(list).settle();
  EXPECT_EQ(scene.group(), nullptr);
  scene.world.daemon->starts_again = false;
  scene.settle();
  ASSERT_NE(scene.group(), nullptr);
  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
}

TEST(NodeUnprepare, DoesNotSayStoppedWhileTheSupervisorOfTheDaemonIsSilent) {
  NodeScene scene = serving();
  scene.world.daemon.reset();
  scene.world.supervisor_error = "connection refused";
  scene.world.supervisor_silent_since = scene.world.elapsed;
  scene.unprepare("a").advance(seconds(2)).settle();

  EXPECT_FALSE(scene.unprepared.contains("a-uid"));
  EXPECT_EQ(scene.group()->state, api::DaemonState::Failed);
  EXPECT_THAT(scene.group()->message, HasSubstr("connection refused"));
}

// Its lock ends with the daemon's last process, so nobody is left who could tell of an end.
TEST(NodeUnprepare, DoesNotWaitForASupervisorThatHasEndedWithItsDaemon) {
  NodeScene scene = serving();
  scene.world.daemon.reset();
  scene.world.supervisor_error = "compute-domain-imex has ended";
  scene.world.supervisor_silent_since = scene.world.elapsed;
  scene.world.supervisor_has_ended = true;
  scene.advance(seconds(2)).settle();
  EXPECT_EQ(scene.stops, 0) << "a successor goes on with what is in use";
  EXPECT_EQ(scene.group()->state, api::DaemonState::Failed);

  scene.unprepare("a").settle();
  EXPECT_TRUE(scene.unprepared.contains("a-uid"));
  EXPECT_EQ(scene.stops, 1) << "and starts nothing that has been given up";
  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
}

TEST(NodeUnprepare, NeverWaitsForTheApiServer) {
  NodeScene scene = serving();
  scene.world.report.current = false;  // nothing can be published
  scene.unprepare("a").settle();
  EXPECT_TRUE(scene.unprepared.contains("a-uid"));
  EXPECT_TRUE(scene.world.checkpoint.stopped.contains(train().operator api::NodeList().group));

  scene.world.report.current = true;
  scene.restart_agent().settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
}

TEST(NodeUnprepare, TakesBackTheWordStoppedBeforeTheDaemonStartsAgainInTheSameTerm) {
  NodeScene scene = serving();
  scene.unprepare("a").settle();
  scene.history.clear();
  scene.prepare("a").settle();

  const auto index_of = [&](const std::string& what) {
    return std::ranges::find_if(
               scene.history,
               [&](const std::string& line) { return line.find(what) != std::string::npos; }) -
           scene.history.begin();
  };
  EXPECT_LT(index_of("update ComputeDomainNode"), index_of("start the daemon of IMEX group"));
  EXPECT_LT(index_of("start the daemon of IMEX group"), std::ssize(scene.history));
}

// The API server may have stored it, and the watch is behind.
TEST(NodeUnprepare, TakesBackAWordStoppedOfWhichNoAnswerCame) {
  NodeScene scene = serving();
  const auto shown = scene.world.report;
  const ServedImexGroup served = *scene.world.checkpoint.served;
  scene.unprepare("a").settle();
  scene.world.report = shown;
  scene.world.maybe_stopped = {{served.group, served.term}};
  scene.history.clear();
  scene.prepare("a").settle();

  ASSERT_EQ(scene.starts, 2);
  const auto first = [&](const std::string& what) {
    return std::ranges::find_if(scene.history, [&](const std::string& line) {
      return line.find(what) != std::string::npos;
    });
  };
  EXPECT_LT(first("update ComputeDomainNode"), first("start the daemon of IMEX group"));
}

TEST(NodeUnprepare, WritesNothingBeforeTheStartInALaterTerm) {
  NodeScene scene = serving();
  scene.unprepare("a").settle();
  api::NodeList list = train().admits("b");
  list.entries[0].term = 2;
  const int writes = scene.report_writes;
  scene.show(list).prepare("b").settle();

  EXPECT_EQ(scene.starts, 2);
  EXPECT_EQ(scene.report_writes, writes);
}

TEST(NodeStopped, IsSaidOfASlotThatIsOnlyKept) {
  NodeScene scene;
  api::NodeList list = train(2);
  list.entries[0].member = false;
  list.entries[0].term = 3;
  scene.settle().show(list).settle();

  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
  EXPECT_EQ(scene.group()->term, 3);
}

TEST(NodeStopped, IsNotSaidWhileTheDaemonRunsOrItsSupervisorIsSilent) {
  NodeScene scene = serving();
  api::NodeList list = train(1);
  list.entries[0].member = false;
  scene.show(list).settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);

  NodeScene silent;
  silent.settle().show(list);
  silent.world.daemon.reset();
  silent.settle();
  EXPECT_EQ(silent.group(), nullptr);
}

TEST(NodeStopped, IsDroppedWhenTheListIsGone) {
  NodeScene scene = serving();
  scene.unprepare("a").settle();
  scene.world.lists_synced = false;
  scene.show_no_lists().settle();
  EXPECT_NE(scene.group(), nullptr);
  scene.world.lists_synced = true;
  scene.settle();
  EXPECT_EQ(scene.group(), nullptr);
  EXPECT_THAT(scene.world.checkpoint.stopped, IsEmpty());
}

TEST(NodeReboot, ForgetsEverythingOfTheEarlierBoot) {
  NodeScene scene = serving();
  scene.world.self.boot_id = "boot-2";
  scene.daemon_has_ended().settle();

  EXPECT_THAT(scene.injected, IsEmpty());
  EXPECT_THAT(scene.world.checkpoint.claims, IsEmpty());
  EXPECT_EQ(scene.report().boot_id, "boot-2");
  EXPECT_EQ(scene.starts, 1);
}

TEST(NodeReboot, RemovesAlsoChannelsThatTheCheckpointDoesNotName) {
  NodeScene scene = serving();
  scene.world.self.boot_id = "boot-2";
  scene.injected.insert({"lost-uid", "stuck-uid"});
  scene.world.held = {
      {claim_ref("a"), {0, 1}}, {{"", "", "lost-uid"}, {0, 1}}, {{"", "", "stuck-uid"}, {0, 1}}};
  scene.world.setbacks["stuck-uid"] = {"cannot remove its file", scene.world.elapsed + seconds(1)};
  scene.daemon_has_ended();
  EXPECT_EQ(std::ranges::count(scene.plan().on_node, NodeIntent(RemoveCdi{"a-uid"})), 1);
  NodeScene::apply_each(scene.plan(), [&](const auto& intent) {
    scene.apply(intent);
    return true;
  });
  EXPECT_THAT(scene.injected, testing::ElementsAre("stuck-uid"));
}

NodeScene with_a_claim_that_is_gone() {
  NodeScene scene = serving();
  api::NodeList list = train(1);
  list.entries[0].member = false;
  scene.delete_claim("a").show(list).advance(minutes(1)).settle();
  return scene;
}

TEST(StaleClaim, IsToldInTheReport) {
  EXPECT_THAT(with_a_claim_that_is_gone().group()->message,
              HasSubstr("ResourceClaim team-a/a has ended in the API but not on this node"));
}

TEST(StaleClaim, EndsAfterTenMinutesWhenKubeletDoesNotNameItEither) {
  NodeScene scene = with_a_claim_that_is_gone();
  scene.world.known_to_kubelet = {"a-uid"};
  for (int minute = 0; minute < 12; ++minute) scene.advance(minutes(1)).settle();
  EXPECT_EQ(scene.stops, 0);

  scene.world.known_to_kubelet = {};
  scene.settle();
  EXPECT_EQ(scene.stops, 1);
  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
}

TEST(StaleClaim, IsNotDoubtedWhileAListAdmitsIt) {
  NodeScene scene = serving();
  scene.delete_claim("a").advance(minutes(30));
  EXPECT_TRUE(NodeScene::is_empty(scene.plan()));
}

TEST(StaleClaim, IsNotEndedByATransientAnswer) {
  NodeScene scene = with_a_claim_that_is_gone();
  scene.advance(minutes(5)).claim(claim_object("a")).settle();
  scene.advance(minutes(6)).settle();
  EXPECT_EQ(scene.stops, 0);
}

// A node with claim a, and with one that has admin access.
NodeScene with_admin_access() {
  NodeScene scene = serving();
  api::ResourceClaim admin = claim_object("admin");
  admin.allocation->devices[0].admin_access = true;
  scene.claim(admin).prepare("admin").settle();
  EXPECT_TRUE(scene.is_prepared("admin"));
  return scene;
}

std::ptrdiff_t look_ups(const NodeScene& scene) {
  return std::ranges::count(scene.history,
                            to_string(ServerIntent(LookUpClaim{claim_ref("admin")})));
}

TEST(StaleClaim, EndsWithAdminAccessToo) {
  NodeScene scene = with_admin_access();
  scene.delete_claim("admin");
  scene.world.known_to_kubelet = {"admin-uid"};
  for (int minute = 0; minute < 30; ++minute) scene.advance(minutes(1)).settle();
  EXPECT_TRUE(scene.world.checkpoint.claims.contains("admin-uid"));

  scene.world.known_to_kubelet = {};
  scene.settle();
  EXPECT_FALSE(scene.world.checkpoint.claims.contains("admin-uid"));
  EXPECT_FALSE(scene.injected.contains("admin-uid"));
  EXPECT_EQ(scene.stops, 0);
}

// What it comes to: kubelet has lost its record while the pod ran, and the node changes over never.
TEST(StaleClaim, WithAdminAccessKeepsNoNodeFromChangingOver) {
  NodeScene scene = with_admin_access();
  scene.unprepare("a").settle();
  scene.delete_claim("admin");
  scene.world.settings.isolation = api::Isolation::Channel;
  for (int minute = 0; minute < 30; ++minute) scene.advance(minutes(1)).settle();
  EXPECT_TRUE(scene.world.checkpoint.by_channel);
  EXPECT_THAT(scene.world.slices.objects.at(0).devices, testing::Not(testing::IsEmpty()));
}

// No node list ever admits it, and there is no cause to doubt it.
TEST(StaleClaim, WithAdminAccessCostsTheApiServerNextToNothing) {
  NodeScene scene = with_admin_access();
  const auto before = look_ups(scene);
  for (int minute = 0; minute < 60; ++minute) scene.advance(minutes(1)).settle();
  EXPECT_EQ(look_ups(scene) - before, 6);
  scene.restart_agent().settle();
  EXPECT_EQ(look_ups(scene) - before, 7) << "a new agent knows no answer yet";
}

TEST(StaleClaim, WithAdminAccessIsNotEndedByATransientAnswer) {
  NodeScene scene = with_admin_access();
  api::ResourceClaim admin = claim_object("admin");
  scene.delete_claim("admin").advance(minutes(10)).settle();
  scene.claim(admin).advance(minutes(1)).settle();
  scene.advance(minutes(30)).settle();
  EXPECT_TRUE(scene.world.checkpoint.claims.contains("admin-uid"));
}

// It may be another tenant's, and what the domain waits for is not its end.
TEST(StaleClaim, WithAdminAccessIsNoDomainsBusiness) {
  NodeScene scene = with_admin_access();
  scene.delete_claim("admin").advance(minutes(10)).settle();
  ASSERT_TRUE(scene.world.readings.at("admin-uid").gone_since);
  EXPECT_EQ(scene.group()->message, "");
}

}  // namespace
}  // namespace cdom::core
