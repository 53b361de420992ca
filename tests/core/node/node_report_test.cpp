#include <utility>

#include "compute_domain/core/reasons.h"
#include "core/node/daemon/hosts.h"
#include "core/node/node_scene.h"
#include "core/node/report/summary.h"

namespace cdom::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(NodeReport, ComesBeforeTheSlice) {
  NodeScene scene;
  scene.settle();
  EXPECT_THAT(scene.history,
              ElementsAre("write the checkpoint (0 claims)", "create ComputeDomainNode n00",
                          "create ResourceSlice n00-compute-domain.nvidia.com with "
                          "1 devices"));
  EXPECT_EQ(scene.report().boot_id, kBoot);
  EXPECT_EQ(scene.report().clique, kClique);
  EXPECT_EQ(scene.report().address, "10.0.0.1");
}

TEST(NodeReport, CostsOneWriteForAFormation) {
  NodeScene scene;
  scene.settle();
  const int before = scene.report_writes;
  scene.show(train(3).admits("a")).prepare("a").settle();
  scene.advance(milliseconds(5)).daemon_ready({}).settle();
  scene.advance(milliseconds(5)).daemon_ready({1}).settle();
  EXPECT_EQ(scene.report_writes, before);
  scene.advance(milliseconds(5)).daemon_ready({1, 2}).settle();

  EXPECT_EQ(scene.report_writes, before + 1);
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
  EXPECT_EQ(scene.group()->connected, "1-2");
  EXPECT_EQ(scene.group()->instance, "i1");
  EXPECT_THAT(scene.group()->claims, ElementsAre("a-uid"));
  EXPECT_THAT(scene.group()->unreachable, IsEmpty());
}

NodeScene scene_of_two() {
  NodeScene scene;
  scene.settle().show(train(2).admits("a")).prepare("a").settle();
  scene.advance(seconds(1)).daemon_ready({1}).settle();
  return scene;
}

// The agent asks when the disk takes no checkpoint.
std::optional<api::DaemonState> told_without_a_checkpoint(const NodeScene& scene,
                                                          const NodePlan& plan) {
  const auto told = report_of_failure(scene.world, plan);
  if (!told) return std::nullopt;
  EXPECT_THAT(told->report.groups.at(0).connected, IsEmpty());
  EXPECT_FALSE(told->report.groups.at(0).last_loss) << "what is not remembered";
  return told->report.groups.at(0).state;
}

TEST(NodeReport, SaysWithoutACheckpointThatTheDaemonDoesNotServe) {
  NodeScene scene = scene_of_two();
  EXPECT_EQ(told_without_a_checkpoint(scene, scene.plan()), std::nullopt);
  NodeScene dead = scene;
  dead.daemon_dies();
  EXPECT_EQ(told_without_a_checkpoint(dead, dead.plan()), api::DaemonState::Failed);
  // Also where the next one starts already.
  scene.daemon_is_another(base::DaemonPhase::Starting);
  EXPECT_EQ(told_without_a_checkpoint(scene, scene.plan()), api::DaemonState::Failed);
}

TEST(NodeReport, SaysNothingOfAnEndWithoutACheckpoint) {
  NodeScene scene = scene_of_two();
  scene.daemon_dies();
  NodePlan plan = scene.plan();
  for (ServerIntent& intent : plan.on_server) {
    if (auto* report = std::get_if<PublishReport>(&intent)) {
      report->report.groups.at(0).state = api::DaemonState::Stopped;
    }
  }
  EXPECT_EQ(told_without_a_checkpoint(scene, plan), std::nullopt);
}

TEST(NodeReport, SummarisesTheStateThatWeighsMostInTheTableOfReasons) {
  using api::DaemonState;
  struct Weighed {
    DaemonState state;
    MemberState weight;
  };
  const Weighed states[] = {{DaemonState::Ready, "Ready"},
                            {DaemonState::Starting, "Starting"},
                            {DaemonState::Recovering, "Recovering"},
                            {DaemonState::Failed, "ImexFailed"}};
  const auto state_of = [](DaemonState one, DaemonState other) {
    api::ComputeDomainNodeReport report;
    report.groups = {{.group = "a", .state = one}, {.group = "b", .state = other}};
    return summary_of(report).state;
  };
  for (const auto& [one, weight] : states) {
    EXPECT_EQ(state_of(one, DaemonState::None), one);
    EXPECT_EQ(state_of(DaemonState::None, one), one);
    for (const auto& [other, other_weight] : states) {
      EXPECT_EQ(state_of(one, other), weight.is_worse_than(other_weight) ? one : other);
    }
  }
  EXPECT_EQ(state_of(DaemonState::Stopped, DaemonState::Stopped), std::nullopt);
}

TEST(NodeReport, HasASummaryForTables) {
  NodeScene scene;
  scene.settle();
  EXPECT_EQ(scene.report().summary, api::ReportSummary{});
  api::NodeList list = train(3).admits("a");
  list.domain = "team-a/train";
  scene.show(list).prepare("a").settle().advance(seconds(6)).daemon_ready({1}).settle();
  scene.advance(seconds(6)).settle();
  const api::ReportSummary& summary = scene.report().summary;
  EXPECT_EQ(summary.state, api::DaemonState::Ready);
  EXPECT_EQ(summary.since, scene.group()->since);
  EXPECT_EQ(summary.domains, "team-a/train");
  EXPECT_EQ(summary.unreachable, "n02");
  EXPECT_EQ(summary.message, "");

  scene.daemon_dies("nvidia-imex has ended").settle();
  EXPECT_EQ(scene.report().summary.state, api::DaemonState::Failed);
  EXPECT_EQ(scene.report().summary.message, scene.group()->message);
  EXPECT_EQ(scene.report().summary.domains, "team-a/train");
}

TEST(NodeReport, GoesOnNamingTheDomainWhoseListIsNotSeen) {
  NodeScene scene;
  api::NodeList list = train(1).admits("a");
  list.domain = "team-a/train";
  scene.settle().show(list).prepare("a").settle().daemon_ready({}).settle();
  ASSERT_EQ(scene.report().summary.domains, "team-a/train");
  scene.show_no_lists().advance(minutes(1)).settle();
  EXPECT_EQ(scene.report().summary.domains, "team-a/train");
}

TEST(NodeReport, TellsAnAddressThatHasChangedAndKeepsTheLastWhileNoneIsKnown) {
  NodeScene scene = serving(2);
  scene.daemon_dies("ended with its supervisor");
  scene.world.self.address = "";
  scene.settle();
  EXPECT_EQ(scene.report().address, "10.0.0.1");

  scene.world.self.address = "10.9.9.9";
  scene.advance(seconds(1)).settle();
  EXPECT_EQ(scene.report().address, "10.9.9.9");
  EXPECT_THAT(scene.hosts, testing::StartsWith("10.9.9.9\t"));
}

TEST(NodeReport, TellsAtOnceThatAReadyDaemonHasEndedWithItsSupervisor) {
  NodeScene scene = serving(2);
  const SeenDaemon before = *scene.world.daemon;
  scene.world.daemon.reset();
  scene.world.supervisor_silent_since = scene.world.elapsed;
  scene.settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready) << "it may be silent for a moment only";

  scene.advance(milliseconds(700));
  scene.world.daemon = before;
  scene.daemon_is_another(base::DaemonPhase::Starting).settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Failed);
  EXPECT_EQ(scene.group()->instance, "another");
  EXPECT_THAT(scene.group()->message, HasSubstr("has ended with its supervisor"));
  scene.advance(seconds(1)).settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Starting);
  EXPECT_EQ(scene.group()->message, "");
}

TEST(NodeReport, OfASilentSupervisorsDaemonNoEndIsKnown) {
  NodeScene scene = serving(2);
  // As long as they are, and longer than what a string keeps in itself.
  scene.daemon_is_another(base::DaemonPhase::Ready).daemon_ready({1});
  scene.world.daemon->instance = "0f3a5c6d7e8f9a0b1c2d3e4f";
  scene.settle().advance(seconds(1)).settle();
  ASSERT_EQ(scene.group()->state, api::DaemonState::Ready);
  scene.world.daemon.reset();
  scene.world.supervisor_silent_since = scene.world.elapsed;
  scene.world.supervisor_error = "compute-domain-imex does not answer";
  scene.settle().advance(minutes(1)).settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Failed);
  EXPECT_EQ(scene.group()->instance, "0f3a5c6d7e8f9a0b1c2d3e4f");
  EXPECT_EQ(scene.group()->message,
            "compute-domain-imex does not answer; check its pod on this node");
}

TEST(NodeReport, TellsTheEndOfAReadyDaemonForASecondAlsoWhenTheNextIsReadyBeforeAnybodyLooks) {
  NodeScene scene = serving(2);
  scene.advance(minutes(1)).daemon_is_another(base::DaemonPhase::Ready).daemon_ready({1}).settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Failed);
  EXPECT_EQ(scene.group()->instance, "another") << "its peers reach the next one at once";
  EXPECT_EQ(scene.group()->connected, "");
  EXPECT_EQ(scene.plan().look_again, seconds(1));

  scene.advance(seconds(1)).settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
  EXPECT_EQ(scene.group()->instance, "another");
  EXPECT_EQ(scene.group()->connected, "1");
  EXPECT_EQ(scene.group()->message, "");
}

// The supervisor's pod would not end either: its process waits for that of the daemon.
TEST(NodeReport, AdvisesToDeleteThePodOnlyWhileNobodyStopsTheDaemon) {
  NodeScene scene = serving();
  scene.advance(minutes(1)).daemon_is(base::DaemonPhase::Failed);
  scene.world.daemon->message = "nvidia-imex-ctl -q gives no answer; nvidia-imex may hang";
  scene.settle().advance(seconds(1)).settle();
  ASSERT_EQ(scene.group()->state, api::DaemonState::Failed);
  EXPECT_THAT(scene.group()->message, HasSubstr("delete the compute-domain-imex pod"));

  scene.daemon_ends_slowly().unprepare("a").settle().advance(seconds(10));
  ASSERT_TRUE(scene.world.daemon->stopping);
  scene.world.daemon->message = "nvidia-imex does not end after SIGKILL";
  scene.settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Failed);
  EXPECT_EQ(scene.group()->message, "nvidia-imex does not end after SIGKILL");
}

TEST(NodeReport, SaysThatADaemonThatStopsHasFailedUntilItHasEnded) {
  NodeScene scene = serving();
  scene.daemon_ends_slowly().unprepare("a").settle();
  ASSERT_TRUE(scene.world.daemon->stopping);
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
  scene.advance(seconds(15)).daemon_is(base::DaemonPhase::Failed);
  scene.world.daemon->message = "nvidia-imex does not end after SIGKILL";
  scene.settle().advance(seconds(1)).settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Failed);
  EXPECT_EQ(scene.group()->message, "nvidia-imex does not end after SIGKILL");
  EXPECT_EQ(scene.report().summary.state, api::DaemonState::Failed);
  EXPECT_FALSE(scene.unprepared.contains("a-uid"));
  EXPECT_EQ(scene.reason("a"), "nvidia-imex does not end after SIGKILL");

  scene.daemon_has_ended().settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
  EXPECT_EQ(scene.group()->message, "");
  EXPECT_TRUE(scene.unprepared.contains("a-uid"));
}

TEST(NodeReport, SaysToTheNextClaimsWhyADaemonDoesNotEnd) {
  NodeScene scene = serving();
  scene.daemon_ends_slowly().unprepare("a").settle();
  scene.advance(seconds(15)).daemon_is(base::DaemonPhase::Failed);
  scene.world.daemon->message = "nvidia-imex does not end after SIGKILL";
  scene.show(train().admits("b")).prepare("b").settle();
  EXPECT_EQ(scene.reason("b"), "nvidia-imex does not end after SIGKILL");
  scene.show(ListBuilder("other-uid").admits("c")).prepare("c").settle();
  EXPECT_EQ(scene.reason("c"),
            "this node still runs the IMEX daemon of another ComputeDomain, for ResourceClaim "
            "team-a/b; nvidia-imex does not end after SIGKILL");
}

// The peers would be named, and their network suspected.
TEST(NodeReport, KeepsItsConnectionsWhileItsSupervisorCannotLook) {
  NodeScene scene = serving(2);
  scene.daemon_ready({1}).settle().advance(minutes(1)).settle();
  const api::ImexGroupReport before = *scene.group();
  ASSERT_EQ(before.connected, "1");
  scene.world.daemon->peers.clear();
  scene.world.daemon->message = "nvidia-imex-ctl cannot be run";
  for (int i = 0; i < 3; ++i) scene.advance(seconds(10)).settle();
  EXPECT_EQ(scene.group()->connected, "1");
  EXPECT_THAT(scene.group()->unreachable, IsEmpty());
  EXPECT_EQ(scene.group()->message, "nvidia-imex-ctl cannot be run");

  scene.world.daemon->message.clear();
  scene.settle().advance(seconds(10)).settle();
  EXPECT_THAT(scene.group()->unreachable, ElementsAre("n01")) << "it looks, and there is none";
}

TEST(NodeReport, LetsTheEndOfADaemonStandForASecondHoweverSoonTheNextIsReady) {
  NodeScene scene = serving(2);
  scene.advance(minutes(1)).daemon_dies("ended with its supervisor").settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Failed);
  scene.daemon_is_another(base::DaemonPhase::Ready).daemon_ready({1}).settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Failed);
  scene.advance(seconds(1)).settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
  EXPECT_EQ(scene.group()->instance, "another");
}

TEST(NodeReport, TakesADaemonThatNoClaimHasUsedForNoSuccessor) {
  NodeScene scene = serving(2);
  scene.world.report.objects.front().status.groups.front().instance = "earlier";
  scene.advance(minutes(1)).settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
  EXPECT_EQ(scene.group()->instance, "i1");
}

TEST(NodeReport, HoldsTheFirstReadyForTwoSecondsAtMost) {
  NodeScene scene;
  scene.settle().show(train(3).admits("a")).prepare("a").settle();
  scene.daemon_ready({1}).settle();
  EXPECT_EQ(scene.group(), nullptr);
  EXPECT_EQ(scene.plan().look_again, seconds(2));

  scene.advance(seconds(2)).settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
  EXPECT_EQ(scene.group()->connected, "1");
  EXPECT_THAT(scene.group()->unreachable, IsEmpty());
}

TEST(NodeReport, HoldsNoComplaint) {
  NodeScene scene;
  scene.settle().show(train(3).admits("a")).prepare("a").settle().daemon_ready({1}).settle();
  scene.advance(milliseconds(500)).daemon_ready({}).settle();
  scene.advance(milliseconds(500)).settle();
  ASSERT_NE(scene.group(), nullptr);
  EXPECT_THAT(scene.group()->unreachable, ElementsAre("n01"));
}

// Its pods run since it was READY.
TEST(NodeReport, TellsTheEndOfADaemonWhoseReadyWasHeld) {
  NodeScene scene;
  scene.settle().show(train(3).admits("a")).prepare("a").settle().daemon_ready({1}).settle();
  ASSERT_TRUE(scene.is_prepared("a"));
  scene.advance(milliseconds(1900)).settle();
  ASSERT_EQ(scene.group(), nullptr);
  scene.daemon_dies("killed").settle();
  ASSERT_NE(scene.group(), nullptr);
  EXPECT_THAT(scene.group()->message, HasSubstr("have lost the memory"));
  scene.daemon_is_another(base::DaemonPhase::Ready).daemon_ready({1, 2}).settle();
  scene.advance(seconds(1)).settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
  EXPECT_EQ(scene.group()->restarts, 1);
}

TEST(NodeReport, ComplainsOfAMemberThatHasNotBeenHeardOfAfterFiveSeconds) {
  NodeScene scene;
  scene.settle().show(train(3).admits("a")).prepare("a").settle();
  scene.daemon_ready({1}).settle();
  scene.advance(seconds(2)).settle();
  EXPECT_EQ(scene.plan().look_again, seconds(3));
  scene.advance(seconds(3)).settle();
  EXPECT_THAT(scene.group()->unreachable, ElementsAre("n02"));
}

TEST(NodeReport, TellsALostMemberSoonAndOneThatIsBackAtOnce) {
  NodeScene scene = serving(3);
  scene.advance(seconds(10)).daemon_ready({1}).settle();
  EXPECT_THAT(scene.group()->unreachable, IsEmpty());
  EXPECT_EQ(scene.plan().look_again, milliseconds(300));
  scene.advance(milliseconds(300)).settle();
  EXPECT_THAT(scene.group()->unreachable, ElementsAre("n02"));
  EXPECT_EQ(scene.group()->connected, "1");

  scene.advance(milliseconds(1)).daemon_ready({1, 2}).settle();
  EXPECT_THAT(scene.group()->unreachable, IsEmpty());
  EXPECT_EQ(scene.group()->connected, "1-2");
}

// As when a member comes back at another address: its old connection breaks off.
TEST(NodeReport, GivesMembersASecondAfterTheDaemonWasToldANewAddress) {
  NodeScene scene = serving(3);
  scene.advance(seconds(10));
  scene.world.daemon->signalled = scene.world.elapsed;
  scene.advance(milliseconds(400)).daemon_ready({1}).settle();
  EXPECT_EQ(scene.plan().look_again, milliseconds(600));
  scene.advance(milliseconds(500)).settle();
  EXPECT_THAT(scene.group()->unreachable, IsEmpty());
  scene.advance(milliseconds(100)).settle();
  EXPECT_THAT(scene.group()->unreachable, ElementsAre("n02"));
}

// A member that is gone may have another address by now: the daemon is told to look.
TEST(NodeReport, TellsALostMemberSoonAlsoWhenTheDaemonIsToldToLookForItAgain) {
  NodeScene scene = serving(3);
  scene.advance(seconds(10)).daemon_ready({1}).advance(milliseconds(10));
  scene.world.daemon->signalled = scene.world.elapsed;
  scene.advance(milliseconds(290)).settle();
  EXPECT_THAT(scene.group()->unreachable, ElementsAre("n02"));
}

// A node that came third, READY for two seconds and without a connection yet.
NodeScene third_of(std::int64_t count) {
  NodeScene scene;
  api::NodeList list = train(count).admits("a");
  list.entries.front().term = 3;
  for (std::size_t i = 3; i < list.entries.size(); ++i) list.entries[i].term = i + 1;
  scene.settle().show(list).prepare("a").settle();
  scene.daemon_ready().advance(seconds(2)).settle();
  EXPECT_EQ(scene.group()->connected, "");
  return scene;
}

TEST(NodeReport, TellsOnceThatItHasReachedThoseWhoCameBefore) {
  NodeScene scene = third_of(3);
  const int before = scene.report_writes;
  scene.advance(milliseconds(500)).daemon_ready({1}).settle();
  EXPECT_EQ(scene.report_writes, before);
  scene.advance(milliseconds(500)).daemon_ready({1, 2}).settle();
  EXPECT_EQ(scene.report_writes, before + 1);
  EXPECT_EQ(scene.group()->connected, "1-2");
}

// The controller lost sight of the claims for a moment, so that all came anew for it and nothing
// for the nodes: each of them would leave it to the other one.
TEST(NodeReport, TellsThatItHasReachedThoseWhoCameBeforeAlsoInNewTerms) {
  NodeScene scene = third_of(3);
  api::NodeList list = train(3).admits("a");
  list.entries.at(0).term = 6;
  list.entries.at(1).term = 4;
  list.entries.at(2).term = 5;
  scene.show(list).settle();
  scene.advance(milliseconds(500)).daemon_ready({1, 2}).settle();
  EXPECT_EQ(scene.group()->connected, "1-2");
}

TEST(NodeReport, LeavesItToThoseWhoCameAfterThatTheyHaveReachedIt) {
  NodeScene scene = third_of(5);
  scene.advance(milliseconds(500)).daemon_ready({1, 2}).settle();
  const int before = scene.report_writes;
  scene.advance(milliseconds(500)).daemon_ready({1, 2, 3, 4}).settle();
  EXPECT_EQ(scene.report_writes, before);
}

TEST(NodeReport, TellsThoseItHasReachedWithTheOneItHasNot) {
  NodeScene scene = third_of(4);
  scene.advance(seconds(1)).daemon_ready({1}).settle();
  EXPECT_EQ(scene.group()->connected, "");
  scene.advance(seconds(3)).settle();
  EXPECT_EQ(scene.group()->connected, "1");
  EXPECT_THAT(scene.group()->unreachable, ElementsAre("n02", "n03"));
}

TEST(NodeReport, LeavesANewcomerThatConnectsInTimeToItsOwnReport) {
  NodeScene scene = serving(2);
  const int before = scene.report_writes;
  scene.advance(minutes(1)).show(train(3).admits("a")).settle();
  scene.advance(milliseconds(900)).daemon_ready({1, 2}).settle().advance(minutes(1)).settle();
  EXPECT_EQ(scene.report_writes, before);
}

// What this daemon last said of its peers is older than the news of the newcomer's start.
TEST(NodeReport, GivesAMemberTimeFromItsStartOnHoweverLongItWasAwaited) {
  NodeScene scene = serving(2);
  scene.advance(minutes(1)).show(train(3).admits("a")).settle();
  scene.advance(seconds(4)).settle();
  scene.show(train(2).admits("a").member(2, "i9")).settle();
  scene.advance(seconds(2)).settle();
  EXPECT_THAT(scene.group()->unreachable, IsEmpty());
  scene.advance(seconds(3)).settle();
  EXPECT_THAT(scene.group()->unreachable, ElementsAre("n02"));
}

TEST(NodeReport, PassesOverAStateOfLessThanASecond) {
  NodeScene scene = serving(1);
  const int before = scene.report_writes;
  scene.advance(minutes(1)).daemon_is(base::DaemonPhase::Starting).settle();
  scene.advance(milliseconds(900)).daemon_ready().settle();
  EXPECT_EQ(scene.report_writes, before);
}

TEST(NodeReport, TellsAStateThatLasts) {
  NodeScene scene = serving(1);
  scene.advance(minutes(1)).daemon_is(base::DaemonPhase::Starting).settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
  scene.advance(seconds(1)).settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Starting);
}

TEST(NodeReport, TellsTheEndOfADaemonThatWasReadyAtOnce) {
  NodeScene scene = serving(1);
  scene.advance(minutes(1)).daemon_dies("killed by signal 9");
  scene.world.daemon->starts_again = true;
  scene.settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Failed);
  EXPECT_EQ(scene.group()->message,
            "killed by signal 9 (it is started again); pods there have lost the memory that they "
            "imported and have to start again");
}

TEST(NodeReport, PromisesNoDaemonWhoseStartWasRefused) {
  NodeScene scene = serving(1);
  scene.advance(minutes(1)).daemon_dies("nvidia-imex is missing");
  scene.world.daemon->starts_again = false;
  scene.settle();
  EXPECT_EQ(scene.group()->message,
            "nvidia-imex is missing; pods there have lost the memory that they imported and have "
            "to start again");
}

TEST(NodeReport, SaysHowADaemonThatHangsIsRestarted) {
  NodeScene scene = serving(1);
  scene.advance(minutes(1)).daemon_is(base::DaemonPhase::Failed);
  scene.world.daemon->message = "nvidia-imex may hang";
  scene.settle().advance(seconds(1)).settle();
  EXPECT_EQ(scene.group()->message,
            "nvidia-imex may hang; delete the compute-domain-imex pod on n00 to restart it: this "
            "ends what uses NVLink there");
}

// Once the daemon is well again, nobody should do what was right before.
TEST(NodeReport, KeepsOfAFailureTheCauseAndNotTheRemedy) {
  NodeScene scene = serving(1);
  scene.advance(minutes(1)).daemon_is(base::DaemonPhase::Failed);
  scene.world.daemon->message = "nvidia-imex may hang";
  scene.settle().advance(seconds(1)).settle();
  ASSERT_THAT(scene.group()->message, HasSubstr("delete the compute-domain-imex pod"));
  EXPECT_EQ(scene.group()->last_failure->message, "nvidia-imex may hang");

  scene.world.daemon.reset();
  scene.world.supervisor_error = "compute-domain-imex does not answer";
  scene.world.supervisor_silent_since = scene.world.elapsed;
  scene.settle().advance(seconds(1)).settle();
  EXPECT_EQ(scene.group()->message,
            "compute-domain-imex does not answer; check its pod on this node");
  EXPECT_EQ(scene.group()->last_failure->message, "compute-domain-imex does not answer");
}

TEST(NodeReport, CountsTheRestartsOfATermAndKeepsTheLastFailure) {
  NodeScene scene = serving(2);
  EXPECT_EQ(scene.group()->restarts, 0);
  EXPECT_EQ(scene.group()->last_failure, std::nullopt);
  scene.advance(minutes(1)).daemon_dies("nvidia-imex has ended").settle();
  const base::Time failed = scene.group()->since;
  EXPECT_EQ(scene.group()->restarts, 0) << "nothing has taken its place yet";
  scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Ready).daemon_ready({1}).settle();
  scene.advance(seconds(2)).settle();
  ASSERT_EQ(scene.group()->state, api::DaemonState::Ready);
  EXPECT_EQ(scene.group()->restarts, 1);
  ASSERT_TRUE(scene.group()->last_failure);
  EXPECT_EQ(scene.group()->last_failure->time, failed);
  EXPECT_THAT(scene.group()->last_failure->message, HasSubstr("nvidia-imex has ended"));

  const int writes = scene.report_writes;
  scene.advance(minutes(5)).settle();
  EXPECT_EQ(scene.report_writes, writes) << "it is told once";
  scene.world.report.objects.front().status.groups.front().term = 0;
  scene.settle();
  EXPECT_EQ(scene.group()->restarts, 0) << "of another term";
  ASSERT_TRUE(scene.group()->last_failure);
  EXPECT_EQ(scene.group()->last_failure, scene.group()->last_loss) << "that has no term";
}

TEST(NodeReport, KeepsTheLossOfMemoryWhateverFailsLater) {
  NodeScene scene = serving(1);
  EXPECT_EQ(scene.group()->last_loss, std::nullopt);
  scene.advance(minutes(1)).daemon_dies("killed by signal 9").settle();
  const base::Time lost = scene.group()->since;
  scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Ready).daemon_ready().settle();
  scene.advance(minutes(1)).daemon_is(base::DaemonPhase::Failed);
  scene.world.daemon->message = "nvidia-imex does not answer";
  scene.settle().advance(seconds(1)).settle();
  ASSERT_EQ(scene.group()->state, api::DaemonState::Failed);
  scene.world.daemon->message = "";
  scene.daemon_ready().settle().advance(seconds(2)).settle();
  ASSERT_EQ(scene.group()->state, api::DaemonState::Ready);
  EXPECT_THAT(scene.group()->last_failure->message, HasSubstr("does not answer"));
  ASSERT_TRUE(scene.group()->last_loss);
  EXPECT_EQ(scene.group()->last_loss->time, lost);
  EXPECT_THAT(scene.group()->last_loss->message, HasSubstr("killed by signal 9"));

  api::ImexGroupReport& group = scene.world.report.objects.front().status.groups.front();
  group.last_failure = std::exchange(group.last_loss, std::nullopt);
  scene.settle();
  EXPECT_EQ(scene.group()->last_loss, scene.group()->last_failure) << "by an agent of 0.1.0";

  scene.world.report.objects.front().status.groups.front().last_failure =
      api::DaemonFailure{scene.world.now, "it hung"};
  scene.settle();
  ASSERT_EQ(scene.group()->last_failure->message, "it hung");
  ++scene.world.checkpoint.served->term;
  scene.settle();
  EXPECT_EQ(scene.group()->last_failure, scene.group()->last_loss) << "of another term";
  EXPECT_TRUE(scene.group()->last_loss) << "the claims that have it are still here";
}

TEST(NodeReport, TellsANewInstanceOfTheDaemon) {
  NodeScene scene = serving(1);
  scene.advance(minutes(1)).daemon_dies().settle().advance(milliseconds(250)).settle();
  scene.daemon_ready().settle().advance(seconds(1)).settle();
  EXPECT_EQ(scene.group()->instance, "i2");
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
}

TEST(NodeReport, SaysWithWhomItRecoversAfterTenSeconds) {
  NodeScene scene;
  scene.settle().show(train(3).admits("a")).prepare("a").settle();
  scene.daemon_is(base::DaemonPhase::Recovering, {1}).settle();
  scene.advance(seconds(1)).settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Recovering);
  EXPECT_EQ(scene.group()->message, "");
  scene.advance(seconds(9)).settle();
  EXPECT_EQ(scene.group()->message,
            "waits for importers of an earlier run; not connected with n02");
}

TEST(NodeReport, IsWrittenAgainWhenItWasDeletedByHand) {
  NodeScene scene = serving(2);
  const api::ComputeDomainNodeReport before = scene.report();
  scene.world.report.objects.clear();
  scene.advance(minutes(1)).settle();
  ASSERT_EQ(scene.world.report.objects.size(), 1U);
  EXPECT_EQ(scene.report().groups.at(0).state, api::DaemonState::Ready);
  EXPECT_EQ(scene.report().groups.at(0).claims, before.groups.at(0).claims);
}

TEST(NodeReport, IsNotWrittenWhileAnEarlierWriteHasNotBeenSeen) {
  NodeScene scene = serving(1);
  scene.world.report.current = false;
  scene.world.self.address = "10.9.9.9";
  EXPECT_TRUE(std::ranges::none_of(scene.plan().on_server, [](const ServerIntent& intent) {
    return std::holds_alternative<PublishReport>(intent);
  }));
}

TEST(NodeReport, OfASettledNodeIsQuiet) {
  NodeScene scene = serving(3);
  scene.advance(std::chrono::hours(10));
  EXPECT_EQ(scene.plan(), NodePlan{});
  scene.restart_agent();
  EXPECT_EQ(scene.plan(), NodePlan{});
}

TEST(CliqueChange, KeepsTheOldOneWhileItIsServedAndOffersNoSeat) {
  NodeScene scene = serving(2);
  scene.world.fabric.clique = "rack-2.1";
  scene.settle();
  EXPECT_EQ(scene.report().clique, kClique);
  EXPECT_EQ(scene.report().next_clique, "rack-2.1");
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
  EXPECT_THAT(scene.world.slices.objects.at(0).devices, IsEmpty());

  scene.unprepare("a").settle();
  EXPECT_EQ(scene.report().clique, "rack-2.1");
  EXPECT_EQ(scene.report().next_clique, std::nullopt);
  EXPECT_EQ(scene.world.checkpoint.clique, "rack-2.1");
  ASSERT_EQ(scene.world.slices.objects.at(0).devices.size(), 1U);
  EXPECT_EQ(scene.world.slices.objects.at(0).devices[0].attributes.at("clique"),
            api::AttributeValue(std::string("rack-2.1")));
  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped) << "the word is still to be heard";
}

TEST(CliqueChange, IsNotReadFromAFabricThatCannotBeRead) {
  NodeScene scene = serving(1);
  scene.world.fabric = {std::nullopt, "NVML timed out"};
  scene.settle();
  EXPECT_EQ(scene.report().clique, kClique);
  EXPECT_THAT(scene.group()->message, HasSubstr("NVML timed out"));
  EXPECT_EQ(scene.world.slices.objects.at(0).devices.size(), 1U);
}

// Its own word is what the controller forms groups by.
TEST(NodeSlice, WaitsUntilTheReportOfThisBootIsStored) {
  NodeScene scene;
  scene.world.report.objects = {api::ComputeDomainNode{}};  // created, without a status
  scene.world.report.objects.at(0).meta.uid = "uid";
  const NodePlan plan = scene.plan();
  EXPECT_TRUE(std::ranges::none_of(plan.on_server, [](const ServerIntent& intent) {
    return std::holds_alternative<PublishSlice>(intent);
  }));
  scene.settle();
  EXPECT_THAT(scene.world.slices.objects, ::testing::SizeIs(1));
}

TEST(NodeHosts, LeaveOutWhatIsNoAddress) {
  api::NodeList list;
  list.group = "g";
  list.entries = {{.node = "n1", .slot = 1, .address = "10.0.0.2\n10.6.6.6 api", .member = true},
                  {.node = "n2", .slot = 2, .address = "10.0.0.3", .member = true}};
  const WriteHosts hosts = hosts_of(list, {.group = "g", .slots = 3, .slot = 0}, "10.0.0.1");
  EXPECT_THAT(hosts.text, ::testing::Not(HasSubstr("10.6.6.6")));
  EXPECT_THAT(hosts.text, HasSubstr("10.0.0.3\t"));
}

TEST(NodeHosts, LeadNoNameToAnotherMembersAddress) {
  api::NodeList list;
  list.group = "g";
  list.entries = {{.node = "n1", .slot = 1, .address = "10.0.0.3", .term = 9, .member = true},
                  {.node = "n2", .slot = 2, .address = "10.0.0.3", .term = 2, .member = true},
                  {.node = "n3", .slot = 3, .address = "10.0.0.1", .term = 1, .member = true},
                  {.node = "n4", .slot = 4, .address = "0.0.0.0", .term = 1, .member = true}};
  const WriteHosts hosts = hosts_of(list, {.group = "g", .slots = 5, .slot = 0}, "10.0.0.1");
  for (const std::int64_t slot : {1, 3, 4}) {
    EXPECT_THAT(hosts.text, HasSubstr(nobodys_address(slot) + "\t")) << slot;
  }
  EXPECT_THAT(hosts.text, HasSubstr("10.0.0.3\t" + api::slot_host_name("g", 2)));
}

TEST(NodeSlice, OffersOneSeatWithTypeIdAndClique) {
  NodeScene scene;
  scene.settle();
  const api::ResourceSlice& slice = scene.world.slices.objects.at(0);
  EXPECT_EQ(slice.pool, kSelf);
  EXPECT_EQ(slice.node, kSelf);
  EXPECT_EQ(slice.driver, "compute-domain.nvidia.com");
  ASSERT_EQ(slice.devices.size(), 1U);
  EXPECT_EQ(slice.devices[0].name, "channel-0");
  const std::map<std::string, api::AttributeValue> attributes = {
      {"type", std::string("channel")}, {"id", std::int64_t{0}}, {"clique", std::string(kClique)}};
  EXPECT_EQ(slice.devices[0].attributes, attributes);
}

TEST(NodeSlice, HasNoCliqueAttributeWithoutFabric) {
  NodeScene scene;
  scene.world.fabric.clique = "";
  scene.settle();
  EXPECT_FALSE(scene.world.slices.objects.at(0).devices.at(0).attributes.contains("clique"));
}

TEST(NodeSlice, IsPublishedAgainAtOnceWhenSomebodyDeletesIt) {
  NodeScene scene = serving(1);
  scene.world.slices.objects.clear();
  scene.settle();
  EXPECT_EQ(scene.world.slices.objects.size(), 1U);
}

TEST(NodeSlice, ReplacesThoseOfAnEarlierDriver) {
  NodeScene scene;
  api::ResourceSlice old;
  old.meta.name = "00000-compute-domain.nvidia.com-n00-abcde";
  old.meta.uid = "old";
  old.pool = kSelf;
  old.pool_generation = 4;
  scene.world.slices.objects = {old};
  scene.settle();
  ASSERT_EQ(scene.world.slices.objects.size(), 1U);
  EXPECT_EQ(scene.world.slices.objects[0].pool_generation, 5);
}

}  // namespace
}  // namespace cdom::core
