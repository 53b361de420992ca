// Which ends of IMEX daemons count as a loss of memory, and of which claims.
#include "compute_domain/base/text.h"
#include "compute_domain/core/memory_lost.h"
#include "core/node/losses_scene.h"
#include "core/node/report/report.h"

namespace cdom::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(NodeLosses, NotesTheLossWhenADaemonThatHungAfterItsReadyDies) {
  NodeScene scene = hung();
  ASSERT_EQ(scene.group()->state, api::DaemonState::Failed);
  ASSERT_EQ(scene.group()->last_loss, std::nullopt) << "it may answer again";
  ASSERT_THAT(scene.group()->message, Not(HasSubstr(kMemoryLost)));

  const int writes = scene.report_writes;
  scene.daemon_dies("killed by signal 9").settle();
  EXPECT_THAT(scene.group()->message, HasSubstr(kMemoryLost)) << "at once";
  EXPECT_EQ(scene.group()->since, scene.world.now) << "what began since the hang is lost too";
  ASSERT_TRUE(scene.group()->last_loss);
  EXPECT_EQ(scene.group()->last_loss->time, scene.world.now);
  EXPECT_THAT(scene.group()->last_loss->message, HasSubstr("killed by signal 9"));
  scene.advance(milliseconds(100)).settle();
  EXPECT_EQ(scene.report_writes, writes + 1);
}

TEST(NodeLosses, NotesTheLossWhenADaemonThatHungAfterItsReadyHasASuccessor) {
  for (const bool is_new_agent : {false, true}) {
    NodeScene scene = hung(2);
    if (is_new_agent) scene.restart_agent();
    scene.advance(seconds(5)).daemon_is_another(base::DaemonPhase::Starting).settle();
    EXPECT_EQ(scene.group()->state, api::DaemonState::Failed);
    EXPECT_EQ(scene.group()->instance, "another");
    EXPECT_THAT(scene.group()->message, HasSubstr(kMemoryLost));
    ASSERT_TRUE(scene.group()->last_loss);
    EXPECT_EQ(scene.group()->last_loss->time, scene.world.now);
  }
}

// The pod of the supervisor takes a while to come back, and cannot start a daemon at first.
TEST(NodeLosses, NotesTheLossWhereASilentSupervisorHasTakenAReadyDaemonWithIt) {
  for (const bool starts : {true, false}) {
    for (const std::string instance : {"i1", "another", ""}) {
      if (starts && instance != "another") continue;
      NodeScene scene = serving(2);
      SeenDaemon next = *scene.world.daemon;
      scene.world.daemon.reset();
      scene.world.supervisor_error = "compute-domain-imex does not answer";
      scene.world.supervisor_silent_since = scene.world.elapsed;
      scene.settle().advance(minutes(1)).settle();
      ASSERT_EQ(scene.group()->state, api::DaemonState::Failed);
      EXPECT_EQ(scene.group()->last_loss, std::nullopt) << "it may run on";

      next.instance = instance;
      next.running = starts;
      next.phase = starts ? base::DaemonPhase::Starting : base::DaemonPhase::Failed;
      next.starts_again = true;
      next.since = scene.world.elapsed;
      next.since_time = scene.world.now;
      scene.world.daemon = next;
      scene.settle();
      EXPECT_THAT(scene.group()->message, HasSubstr(kMemoryLost)) << instance;
      ASSERT_TRUE(scene.group()->last_loss);
      EXPECT_EQ(scene.group()->last_loss->time, scene.world.now);
    }
  }
}

TEST(NodeLosses, KnowsThroughEveryStateThatADaemonHadBeenReady) {
  NodeScene scene = hung();
  for (const auto phase : {base::DaemonPhase::Recovering, base::DaemonPhase::Starting,
                           base::DaemonPhase::Failed, base::DaemonPhase::Recovering}) {
    scene.daemon_is(phase).settle().advance(seconds(1)).settle();
    ASSERT_EQ(scene.group()->state, state_of(phase));
  }
  scene.daemon_dies("killed").settle();
  EXPECT_TRUE(scene.group()->last_loss);
}

TEST(NodeLosses, OfAHungDaemonThatAnswersAgainNothingIsLost) {
  NodeScene scene = hung();
  scene.world.daemon->message = "";
  scene.daemon_ready().settle().advance(seconds(2)).settle();
  ASSERT_EQ(scene.group()->state, api::DaemonState::Ready);
  EXPECT_EQ(scene.group()->last_loss, std::nullopt);
}

TEST(NodeLosses, OfAHungDaemonWhoseClaimsHaveEndedNothingIsLost) {
  NodeScene scene;
  scene.world.settings.isolation = api::Isolation::Channel;
  scene.settle().show(ListBuilder("")).settle().daemon_ready().settle();
  scene.show(ListBuilder("").admits("a", 7)).prepare("a").settle();
  scene.unprepare("a").settle().advance(minutes(1));
  scene.daemon_is(base::DaemonPhase::Failed).settle().advance(seconds(1)).settle();
  ASSERT_EQ(scene.group("")->state, api::DaemonState::Failed);
  scene.daemon_dies("killed").settle().advance(seconds(1)).settle();
  EXPECT_EQ(scene.group("")->last_loss, std::nullopt);

  // A claim that comes later has had nothing of it.
  scene.show(ListBuilder("").admits("b", 8)).prepare("b");
  scene.daemon_is_another(base::DaemonPhase::Ready).settle().advance(seconds(2)).settle();
  ASSERT_TRUE(scene.is_prepared("b"));
  EXPECT_EQ(scene.group("")->last_loss, std::nullopt);
}

TEST(NodeLosses, NotesTheLossOfAHungDaemonAlsoWithIsolationByChannel) {
  NodeScene scene;
  scene.world.settings.isolation = api::Isolation::Channel;
  scene.settle().show(ListBuilder("").admits("a", 7)).settle().daemon_ready().settle();
  scene.prepare("a").settle().advance(minutes(1));
  scene.daemon_is(base::DaemonPhase::Failed).settle().advance(seconds(1)).settle();
  scene.daemon_is_another(base::DaemonPhase::Starting).settle();
  EXPECT_TRUE(scene.group("")->last_loss);
}

// The pods' claims stay prepared all the while.
TEST(NodeLosses, NotesNoLossOfDaemonsThatHaveNotBeenReadySinceTheLast) {
  for (const bool is_hung_first : {false, true}) {
    NodeScene scene = is_hung_first ? hung() : serving();
    scene.advance(seconds(5)).daemon_dies("killed").settle();
    const auto lost = scene.group()->last_loss;
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->time, scene.world.now);
    for (int i = 0; i < 3; ++i) {
      for (const int seconds_of_start : {0, 2}) {
        scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Starting);
        scene.world.daemon->instance = std::to_string(10 * i + seconds_of_start);
        scene.settle().advance(seconds(seconds_of_start)).settle();
        scene.daemon_dies(base::cat("exited with ", i)).world.daemon->starts_again = true;
        scene.settle().advance(seconds(2)).settle();
        ASSERT_EQ(scene.group()->state, api::DaemonState::Failed);
        EXPECT_EQ(scene.group()->instance, scene.world.daemon->instance);
        EXPECT_EQ(scene.group()->last_loss, lost);
        EXPECT_THAT(scene.group()->last_failure->message, Not(HasSubstr(kMemoryLost)));
        const int writes = scene.report_writes;
        scene.restart_agent().settle();
        EXPECT_EQ(scene.report_writes, writes);
      }
    }
    // One that hangs before it is READY.
    scene.daemon_is_another(base::DaemonPhase::Starting);
    scene.world.daemon->instance = "hangs";
    scene.settle().advance(seconds(2)).daemon_is(base::DaemonPhase::Failed).settle();
    scene.advance(seconds(2)).settle().daemon_dies("killed").world.daemon->starts_again = true;
    scene.settle().advance(seconds(2)).settle();
    EXPECT_EQ(scene.group()->instance, "hangs");
    EXPECT_EQ(scene.group()->last_loss, lost);
    scene.daemon_is_another(base::DaemonPhase::Ready).settle().advance(seconds(2)).settle();
    ASSERT_EQ(scene.group()->state, api::DaemonState::Ready);
    EXPECT_EQ(scene.group()->last_loss, lost);

    scene.advance(minutes(1)).daemon_dies("killed again").settle();
    EXPECT_EQ(scene.group()->last_loss->time, scene.world.now) << "that one had been READY";
  }
}

// As long as it is reported as failed, people read that the pods have to start again.
TEST(NodeLosses, GoesOnTellingOfALossWhileTheNextDaemonsFail) {
  NodeScene scene = serving();
  scene.advance(minutes(1)).daemon_dies("killed").settle();
  scene.advance(seconds(1)).daemon_is_another(base::DaemonPhase::Starting).settle();
  scene.daemon_dies("exited with 1").settle().advance(seconds(1)).settle();
  EXPECT_EQ(scene.group()->message, base::cat("exited with 1; ", kMemoryLost));
  EXPECT_EQ(scene.group()->last_failure->message, "exited with 1");
  EXPECT_THAT(scene.group()->last_loss->message, HasSubstr("killed"));
}

TEST(NodeLosses, OfADaemonThatNeverWasReadyNothingIsLost) {
  NodeScene scene;
  scene.settle().show(train().admits("a")).prepare("a").settle();
  scene.advance(seconds(2)).settle();
  ASSERT_EQ(scene.group()->state, api::DaemonState::Starting);
  scene.daemon_is(base::DaemonPhase::Failed).settle().advance(seconds(1)).settle();
  ASSERT_EQ(scene.group()->state, api::DaemonState::Failed);
  scene.daemon_is_another(base::DaemonPhase::Starting).settle().advance(seconds(1)).settle();
  EXPECT_EQ(scene.group()->last_loss, std::nullopt);
  scene.daemon_dies("killed").settle().advance(seconds(1)).settle();
  EXPECT_EQ(scene.group()->last_loss, std::nullopt);
}

// Its pods run since it was READY, whatever was said of it then.
TEST(NodeLosses, NotesTheLossOfADaemonThatWasReadyForLessThanItsReport) {
  NodeScene scene;
  scene.settle().show(train(3).admits("a")).prepare("a").settle();
  scene.advance(seconds(2)).settle();
  ASSERT_EQ(scene.group()->state, api::DaemonState::Starting);
  scene.daemon_ready({1}).settle();
  ASSERT_TRUE(scene.is_prepared("a"));
  ASSERT_EQ(scene.group()->state, api::DaemonState::Starting) << "it is held";
  NodeScene hangs = scene;
  scene.advance(milliseconds(500)).daemon_dies("killed").settle();
  EXPECT_TRUE(scene.group()->last_loss);

  hangs.daemon_is(base::DaemonPhase::Failed).settle().advance(seconds(1)).settle();
  ASSERT_EQ(hangs.group()->state, api::DaemonState::Failed);
  hangs.daemon_dies("killed").settle();
  EXPECT_TRUE(hangs.group()->last_loss);
}

// The successor's own end is not the loss.
TEST(NodeLosses, TheEndOfASuccessorLeavesTheLossAsItIs) {
  NodeScene scene = hung();
  scene.advance(seconds(5)).daemon_is_another(base::DaemonPhase::Starting).settle();
  const auto lost = scene.group()->last_loss;
  ASSERT_TRUE(lost);
  scene.advance(seconds(2)).settle().advance(seconds(8));
  scene.daemon_dies("cannot bind its port").world.daemon->starts_again = true;
  scene.settle().advance(seconds(2)).settle();
  EXPECT_EQ(scene.group()->last_loss->time, lost->time);
  EXPECT_EQ(scene.group()->last_loss->message, lost->message);
  EXPECT_THAT(scene.group()->last_failure->message, Not(HasSubstr(kMemoryLost)));
  EXPECT_EQ(scene.group()->last_failure->time, scene.group()->since);
}

// The host's own daemon with another name, where the report still says Ready.
TEST(NodeLosses, AHostsDaemonWithAnotherNameIsNoLoss) {
  NodeScene scene;
  scene.world.daemon->host_managed = true;
  scene.settle().show(train().admits("a")).prepare("a").settle().daemon_ready().settle();
  ASSERT_EQ(scene.group()->state, api::DaemonState::Ready);
  scene.world.daemon->instance = "another";
  scene.settle().advance(seconds(2)).settle();
  EXPECT_EQ(scene.group()->last_loss, std::nullopt);
}

// A claim was prepared with the second daemon, whose READY no report has.
TEST(NodeLosses, ASecondDaemonWhoseReadyWasNotReportedIsALoss) {
  NodeScene scene = serving();
  scene.advance(minutes(1)).daemon_dies("killed").settle();
  const auto lost = scene.group()->last_loss;
  ASSERT_TRUE(lost);
  scene.world.report.current = false;  // the API server is silent
  scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Ready).daemon_ready().settle();
  scene.show(train().admits("a").admits("b")).prepare("b").settle();
  ASSERT_TRUE(scene.is_prepared("b"));
  scene.advance(minutes(10)).daemon_is(base::DaemonPhase::Failed);
  scene.world.daemon->message = "nvidia-imex may hang";
  scene.settle().advance(seconds(1));
  scene.world.report.current = true;
  scene.settle().advance(seconds(2)).settle();
  ASSERT_EQ(scene.group()->state, api::DaemonState::Failed);
  scene.advance(minutes(1)).daemon_dies("killed again").settle();
  EXPECT_NE(scene.group()->last_loss, lost);
}

// The first report is made while the supervisor is silent: no instance.
TEST(NodeLosses, ALossAfterAFirstReportThatKnewNoInstance) {
  NodeScene scene;
  scene.settle().show(train().admits("a")).prepare("a").settle();
  scene.world.report.current = false;
  scene.daemon_ready().settle();
  ASSERT_TRUE(scene.is_prepared("a"));
  SeenDaemon next = *scene.world.daemon;
  scene.world.daemon.reset();
  scene.world.supervisor_error = "compute-domain-imex does not answer";
  scene.world.supervisor_silent_since = scene.world.elapsed;
  scene.advance(minutes(1));
  for (auto& object : scene.world.report.objects) object.status.groups.clear();
  scene.world.report.current = true;
  scene.settle().advance(seconds(2)).settle();
  ASSERT_NE(scene.group(), nullptr);
  ASSERT_EQ(scene.group()->state, api::DaemonState::Failed);
  ASSERT_EQ(scene.group()->instance, "");
  next.running = next.answers = false;
  next.phase = base::DaemonPhase::Failed;
  next.message = "killed";
  next.since = scene.world.elapsed;
  next.since_time = scene.world.now;
  next.starts_again = true;
  scene.world.daemon = next;
  scene.settle().advance(seconds(2)).settle();
  EXPECT_TRUE(scene.group()->last_loss);
}

// Proven to have ended: the supervisor's lock is free.
TEST(NodeLosses, ASupervisorThatIsProvenGoneIsALossAtOnce) {
  NodeScene scene = serving(2);
  scene.world.daemon.reset();
  scene.world.supervisor_error = "compute-domain-imex does not run";
  scene.world.supervisor_has_ended = true;
  scene.world.supervisor_silent_since = scene.world.elapsed;
  const base::Time silent = scene.world.now;
  scene.advance(minutes(1)).settle();
  ASSERT_EQ(scene.group()->state, api::DaemonState::Failed);
  ASSERT_TRUE(scene.group()->last_loss);
  EXPECT_EQ(scene.group()->last_loss->time, silent);
}

// Somebody deletes the report while a daemon starts that has not been READY since the loss.
TEST(NodeLosses, ADeletedReportMakesNoSecondLoss) {
  NodeScene scene = serving();
  scene.advance(minutes(1)).daemon_dies("killed").settle();
  const auto lost = scene.group()->last_loss;
  ASSERT_TRUE(lost);
  scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Starting).settle();
  scene.advance(seconds(2)).settle();
  scene.world.report.objects.clear();
  scene.settle().advance(seconds(2)).settle();
  ASSERT_NE(scene.group(), nullptr);
  scene.advance(seconds(2)).daemon_dies("exited with 1").settle();
  EXPECT_EQ(scene.group()->last_loss, lost);
}

// Nobody is left of those who lost; the next claim only waits.
TEST(NodeLosses, TheWordsOfTheLossGoWithItsClaims) {
  NodeScene scene = serving();
  scene.advance(minutes(1)).daemon_dies("killed").world.daemon->starts_again = true;
  scene.settle();
  ASSERT_THAT(scene.group()->message, HasSubstr(kMemoryLost));
  scene.show(train().admits("a").admits("b")).prepare("b").settle();
  scene.unprepare("a").settle();
  scene.delete_claim("a").show(train().admits("b")).settle();
  for (int i = 0; i < 2; ++i) {
    scene.advance(seconds(1)).daemon_is_another(base::DaemonPhase::Starting);
    scene.world.daemon->instance = "x" + std::to_string(i);
    scene.settle().daemon_dies("exited with 1").world.daemon->starts_again = true;
    scene.settle().advance(seconds(2)).settle();
  }
  ASSERT_TRUE(scene.group()->claims.empty()) << scene.group()->claims.size();
  EXPECT_THAT(scene.group()->message, Not(HasSubstr(kMemoryLost)));
}

// Long words.
TEST(NodeLosses, LongWordsKeepTheLoss) {
  NodeScene scene = serving();
  scene.advance(minutes(1)).daemon_dies(std::string(1000, 'x')).world.daemon->starts_again = true;
  scene.settle();
  EXPECT_THAT(scene.group()->message, HasSubstr(kMemoryLost));
  const int writes = scene.report_writes;
  scene.advance(seconds(2)).settle();
  EXPECT_EQ(scene.report_writes, writes);

  scene.daemon_is_another(base::DaemonPhase::Starting).settle();
  scene.daemon_dies(std::string(1000, 'y')).world.daemon->starts_again = true;
  scene.settle().advance(seconds(2)).settle();
  EXPECT_THAT(scene.group()->message, HasSubstr(kMemoryLost)) << "of the one before";
}

// A successor while the term has changed.
TEST(NodeLosses, AnotherTermUnderAHungDaemon) {
  NodeScene scene = hung();
  ListBuilder list = train();
  api::NodeList next = list.admits("a").admits("b");
  next.entries.front().term = 2;
  scene.show(next).prepare("b").settle().advance(seconds(1)).settle();
  scene.advance(seconds(5)).daemon_is_another(base::DaemonPhase::Starting).settle();
  EXPECT_TRUE(scene.group()->last_loss) << scene.group()->term;
}

TEST(NodeLosses, NotesTheLossWhateverTheReportSays) {
  NodeScene scene = hung();
  scene.world.report.objects.front().status.groups.clear();
  scene.restart_agent().settle();
  scene.daemon_dies("killed").settle().advance(seconds(2)).settle();
  EXPECT_TRUE(scene.group()->last_loss);
}

// Silence in the moment after a READY that is not reported yet.
TEST(NodeLosses, ASilentSupervisorIsNotTakenForADaemonBefore) {
  NodeScene scene = serving();
  scene.advance(minutes(1)).daemon_dies("killed").settle();
  const auto lost = scene.group()->last_loss;
  ASSERT_TRUE(lost);
  scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Ready).daemon_ready().settle();
  scene.show(train().admits("a").admits("b")).prepare("b").settle();
  ASSERT_TRUE(scene.is_prepared("b"));
  const SeenDaemon runs = *scene.world.daemon;
  scene.world.daemon.reset();
  scene.world.supervisor_error = "compute-domain-imex does not answer";
  scene.world.supervisor_silent_since = scene.world.elapsed;
  scene.settle().advance(seconds(5)).settle();
  EXPECT_EQ(scene.group()->instance, "i1");
  scene.world.daemon = runs;  // it has run all the time
  scene.settle().advance(seconds(2)).settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
  EXPECT_EQ(scene.group()->last_loss, lost) << scene.group()->last_loss->message;
}

// READY is held for its connections, a claim is prepared, and another daemon runs at once.
TEST(NodeLosses, ASuccessorOfADaemonWhoseReadyWasHeldIsALoss) {
  NodeScene scene;
  scene.settle().show(train(3).admits("a")).prepare("a").settle();
  scene.advance(seconds(2)).settle();
  ASSERT_EQ(scene.group()->state, api::DaemonState::Starting);
  scene.daemon_ready({1}).settle();
  ASSERT_TRUE(scene.is_prepared("a"));
  ASSERT_EQ(scene.group()->state, api::DaemonState::Starting) << "it is held";
  scene.advance(milliseconds(500)).daemon_is_another(base::DaemonPhase::Starting).settle();
  scene.advance(seconds(2)).settle();
  EXPECT_TRUE(scene.group()->last_loss);
}

// All claims of the daemon that ended have gone; the claim that is left is of the next one.
TEST(NodeLosses, AClaimOfTheSuccessorHasLostNothing) {
  NodeScene scene = serving();
  scene.advance(minutes(1));
  scene.world.report.current = false;  // the API server is slow
  scene.show(train().admits("a").admits("c"));
  scene.daemon_dies("killed").world.daemon->starts_again = true;
  scene.settle().prepare("c").settle().unprepare("a").settle();
  scene.daemon_is_another(base::DaemonPhase::Starting).settle();
  scene.advance(seconds(1)).daemon_ready().settle();
  ASSERT_TRUE(scene.is_prepared("c"));
  scene.advance(seconds(2));
  scene.world.report.current = true;
  scene.settle();
  EXPECT_EQ(scene.group()->last_loss, std::nullopt);
}

// Which daemon it is goes in with the write that completes the claim.
TEST(NodeLosses, CostAPrepareNoWriteOfItsOwn) {
  NodeScene scene;
  scene.settle().show(train().admits("a")).settle().daemon_ready().prepare("a");
  const auto writes = [&] {
    return std::ranges::count_if(scene.history, [](const std::string& intent) {
      return intent.find("checkpoint") != std::string::npos;
    });
  };
  ASSERT_FALSE(scene.is_prepared("a"));
  scene.history.clear();
  scene.settle();
  ASSERT_TRUE(scene.is_prepared("a"));
  EXPECT_EQ(writes(), 2) << ::testing::PrintToString(scene.history);
  EXPECT_EQ(scene.world.checkpoint.claims.at("a-uid").daemon, scene.world.daemon->instance);
  scene.history.clear();
  scene.advance(minutes(5)).settle();
  EXPECT_EQ(writes(), 0);
}

// A pod may begin on another's claim, so the claim has what its containers use that start now.
TEST(NodeLosses, CountAgainOnceTheNextDaemonIsReady) {
  NodeScene scene = serving();
  scene.advance(minutes(1)).daemon_dies("killed").settle();
  EXPECT_TRUE(scene.world.checkpoint.claims.at("a-uid").lost_memory);
  scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Ready).settle();
  EXPECT_FALSE(scene.world.checkpoint.claims.at("a-uid").lost_memory);
  EXPECT_EQ(scene.world.checkpoint.claims.at("a-uid").daemon, "another");
}

TEST(NodeLosses, AreNeverThoseOfAClaimWithAdminAccess) {
  NodeScene scene = serving();
  api::ResourceClaim admin = claim_object("admin");
  admin.allocation->devices.front().admin_access = true;
  scene.claim(admin).prepare("admin").settle();
  ASSERT_TRUE(scene.is_prepared("admin"));
  scene.advance(minutes(1)).daemon_dies("killed").settle();
  EXPECT_THAT(scene.group()->lost_claims, ElementsAre("a-uid"));
}

// Kubelet goes on running its pod, which was deleted by force.
TEST(NodeLosses, CountForAClaimWhosePodStillEnds) {
  NodeScene scene = serving();
  scene.world.running_pods["p-uid"] = {
      .ns = "team-a", .name = "p", .uid = "p-uid", .claims = {"a"}};
  scene.unprepare("a").settle().advance(minutes(1));
  ASSERT_FALSE(scene.world.checkpoint.claims.at("a-uid").held_by.empty());
  scene.daemon_dies("killed").settle();
  EXPECT_THAT(scene.group()->lost_claims, ElementsAre("a-uid"));
}

NodeScene serving_with_the_hosts() {
  NodeScene scene;
  scene.world.daemon->host_managed = true;
  return scene.settle().show(train().admits("a")).prepare("a").settle().daemon_ready().settle();
}

TEST(NodeLosses, AreNotedOfNoHostsDaemonAlsoWhenTheNodeGetsOneOfItsOwn) {
  NodeScene scene = serving_with_the_hosts();
  ASSERT_EQ(scene.group()->state, api::DaemonState::Ready);
  scene.advance(minutes(1)).world.daemon.emplace().driver_paused = false;
  scene.settle().advance(seconds(2)).settle();
  EXPECT_EQ(scene.group()->last_loss, std::nullopt);
  scene.daemon_ready().settle();
  scene.advance(minutes(1)).daemon_dies("killed").settle();
  EXPECT_TRUE(scene.group()->last_loss) << "of its own";
}

TEST(NodeLosses, AreNotedOfAnOwnDaemonWhenTheNodeGetsTheHosts) {
  NodeScene scene = serving();
  scene.advance(minutes(1)).daemon_is_another(base::DaemonPhase::Ready);
  scene.world.daemon->host_managed = true;
  scene.settle().advance(seconds(2)).settle();
  const auto lost = scene.group()->last_loss;
  EXPECT_TRUE(lost);
  scene.world.daemon->instance = "another name";
  scene.settle().advance(seconds(2)).settle();
  EXPECT_EQ(scene.group()->last_loss, lost);
}

TEST(NodeLosses, CauseNoWriteAtRest) {
  NodeScene scene = serving();
  scene.advance(minutes(1)).daemon_dies("killed").settle();
  scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Ready).settle();
  scene.advance(seconds(5)).settle();
  scene.history.clear();
  for (int i = 0; i < 5; ++i) scene.advance(minutes(1)).settle();
  scene.restart_agent().settle();
  EXPECT_THAT(scene.history, ::testing::IsEmpty());
}

TEST(NodeLosses, AreForgottenWhenTheNodeBoots) {
  NodeScene scene = serving();
  scene.world.self.boot_id = "boot-2";
  scene.daemon_is_another(base::DaemonPhase::Starting);
  scene.settle().advance(seconds(2)).settle();
  EXPECT_TRUE(scene.world.checkpoint.claims.empty());
  EXPECT_TRUE(scene.group() == nullptr || !scene.group()->last_loss);
}

// The report is of before that, and no other gets out.
TEST(NodeLosses, SettleWhereTheHostsDaemonHasTheInstanceOfTheNodesOwn) {
  for (const bool is_hosts_now : {true, false}) {
    NodeScene scene;
    scene.world.daemon->host_managed = !is_hosts_now;
    scene.settle().show(train().admits("a")).prepare("a").settle().daemon_ready().settle();
    scene.advance(seconds(2)).settle();
    ASSERT_EQ(scene.group()->state, api::DaemonState::Ready);
    scene.world.report.current = false;
    scene.world.daemon->host_managed = is_hosts_now;
    scene.daemon_is(base::DaemonPhase::Failed).settle();
    EXPECT_FALSE(scene.world.checkpoint.served->loss);
  }
}

}  // namespace
}  // namespace cdom::core
