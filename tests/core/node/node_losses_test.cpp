// Which ends of IMEX daemons count as a loss of memory, and how often.
#include "compute_domain/base/text.h"
#include "compute_domain/core/memory_lost.h"
#include "core/node/node_scene.h"
#include "core/node/report/report.h"

namespace cdom::core {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// The next agent decides before the API server has answered it. Gives the report that is there.
std::vector<api::ComputeDomainNode> restart_unread(NodeScene& scene) {
  scene.restart_agent().world.report.current = scene.world.has_read_report = false;
  return std::exchange(scene.world.report.objects, {});
}

void read_report(NodeScene& scene, const std::vector<api::ComputeDomainNode>& report) {
  scene.world.report = {.objects = report, .current = true};
  scene.world.has_read_report = true;
}

// It answers no more, as its report says.
NodeScene hung(std::int64_t count = 1) {
  NodeScene scene = serving(count);
  scene.advance(minutes(1)).daemon_is(base::DaemonPhase::Failed);
  scene.world.daemon->message = "nvidia-imex may hang";
  scene.settle().advance(seconds(30)).settle();
  return scene;
}

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

TEST(NodeLosses, NameTheClaimsThatLostAndNoOthers) {
  NodeScene scene = serving();
  scene.show(train().admits("a").admits("b")).advance(minutes(1)).daemon_dies("killed").settle();
  scene.prepare("b").settle();
  EXPECT_THAT(scene.group()->lost_claims, ElementsAre("a-uid"));
  scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Ready).daemon_ready().settle();
  ASSERT_TRUE(scene.is_prepared("b"));
  scene.advance(seconds(2)).settle();
  EXPECT_THAT(scene.group()->claims, ElementsAre("a-uid", "b-uid"));
  EXPECT_THAT(scene.group()->lost_claims, ElementsAre("a-uid"));

  scene.advance(minutes(1)).daemon_dies("killed").settle();
  EXPECT_THAT(scene.group()->lost_claims, ElementsAre("a-uid", "b-uid"));
}

// Nobody who has lost memory is left to be told, so the domain does not stop being Ready for it.
TEST(NodeLosses, ThatAreNotToldYetAreForgottenWithTheirClaims) {
  NodeScene scene = serving();
  scene.show(train().admits("a").admits("b")).prepare("b").settle();
  scene.advance(minutes(1)).world.report.current = false;
  scene.daemon_dies("killed").settle();
  scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Starting).settle();
  scene.unprepare("a").settle();
  EXPECT_TRUE(scene.world.checkpoint.served->loss);
  scene.show(train().admits("b").admits("c")).prepare("c").settle();
  NodeScene ends = scene;  // its devices cannot be taken away yet
  ends.world.checkpoint.claims.at("b-uid").phase = ClaimPhase::Ending;
  ends.world.setbacks["b-uid"] = {.error = "busy", .retry_at = ends.world.elapsed + minutes(1)};
  ends.settle();
  EXPECT_FALSE(ends.world.checkpoint.served->loss);
  scene.unprepare("b").settle();
  EXPECT_FALSE(scene.world.checkpoint.served->loss);
}

TEST(NodeLosses, ThatAreToldOutliveTheirClaims) {
  NodeScene scene = serving();
  scene.show(train().admits("a").admits("b")).prepare("b").settle();
  scene.advance(minutes(1)).daemon_dies("killed").settle();
  const auto lost = scene.group()->last_loss;
  scene.unprepare("a").settle();
  EXPECT_THAT(scene.group()->lost_claims, ElementsAre("a-uid", "b-uid"));
  scene.show(train().admits("b").admits("c")).prepare("c").settle();
  scene.unprepare("b").settle();
  EXPECT_EQ(scene.group()->last_loss, lost);
  scene.world.report.objects.clear();
  scene.settle();
  EXPECT_FALSE(scene.world.checkpoint.served->loss) << "of nobody who is there";
}

// The API server is slow, and two daemons end before one report gets out.
TEST(NodeLosses, OfTwoDaemonsInOneReportAreOne) {
  NodeScene scene = serving();
  scene.advance(minutes(1)).world.report.current = false;
  scene.daemon_dies("killed").settle();
  const base::Time first = scene.world.now;
  scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Ready).daemon_ready().settle();
  scene.advance(seconds(9)).daemon_dies("killed again").settle();
  scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Starting);
  scene.world.daemon->instance = "third";
  scene.settle().world.report.current = true;
  scene.settle();
  ASSERT_TRUE(scene.group()->last_loss);
  EXPECT_EQ(scene.group()->last_loss->time, first + seconds(11));
  EXPECT_THAT(scene.group()->last_loss->message, HasSubstr("killed again"));
  EXPECT_EQ(scene.group()->state, api::DaemonState::Failed) << "told at once";
  EXPECT_EQ(scene.group()->instance, "third");
  scene.advance(seconds(2)).settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Starting);
}

TEST(NodeLosses, ThatFollowWithinASecondAreToldApart) {
  NodeScene scene = serving();
  scene.advance(minutes(1)).daemon_dies("killed").settle();
  const base::Time first = scene.group()->last_loss->time;
  scene.advance(milliseconds(200)).daemon_is_another(base::DaemonPhase::Ready).settle();
  scene.advance(milliseconds(200)).daemon_dies("killed").settle();
  EXPECT_EQ(scene.group()->last_loss->time, first + seconds(1));
}

TEST(NodeLosses, AreNotedInWholeSeconds) {
  NodeScene scene = serving();
  scene.advance(minutes(1) + milliseconds(700)).daemon_dies("killed").settle();
  EXPECT_EQ(scene.group()->last_loss->time, scene.world.now - milliseconds(700));
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

// A claim that an agent of 0.1 has prepared.
NodeScene of_earlier_agent(NodeScene scene) {
  PreparedClaim& claim = scene.world.checkpoint.claims.at("a-uid");
  claim.daemon.clear();
  claim.lost_memory = false;
  scene.world.checkpoint.served->loss.reset();
  return scene;
}

TEST(NodeLosses, OfAnEarlierAgentsClaimsAreThoseOfADaemonThatItReportedReady) {
  NodeScene scene = of_earlier_agent(serving());
  scene.advance(minutes(1)).daemon_is_another(base::DaemonPhase::Starting).settle();
  EXPECT_TRUE(scene.group()->last_loss);

  scene = of_earlier_agent(serving());
  scene.advance(minutes(1)).daemon_dies("killed").settle();
  EXPECT_TRUE(scene.group()->last_loss);

  scene = of_earlier_agent(hung());
  scene.advance(minutes(1)).daemon_is_another(base::DaemonPhase::Starting).settle();
  EXPECT_FALSE(scene.group()->last_loss) << "nobody knows with which it was prepared";

  scene = of_earlier_agent(hung());
  scene.daemon_ready().settle().daemon_is(base::DaemonPhase::Failed).settle();
  scene.advance(minutes(1)).daemon_dies("killed").settle();
  EXPECT_TRUE(scene.group()->last_loss) << "it has been READY under this agent";
}

TEST(NodeLosses, OfAnEarlierAgentsClaimsAreNotThoseThatItHasNotReported) {
  NodeScene scene = of_earlier_agent(serving());
  scene.world.report.objects.front().status.groups.front().claims.clear();
  scene.advance(minutes(1)).daemon_is_another(base::DaemonPhase::Starting).settle();
  EXPECT_FALSE(scene.group()->last_loss);
}

// Its checkpoint was lost, so kubelet's next question finds its devices.
TEST(NodeLosses, CountAlsoOnceAClaimIsPreparedAgain) {
  NodeScene scene = hung();
  scene.world.checkpoint.claims.at("a-uid").devices.clear();
  scene.prepare("a").settle();
  ASSERT_FALSE(scene.world.checkpoint.claims.at("a-uid").devices.empty());
  scene.daemon_dies("killed").settle();
  EXPECT_TRUE(scene.group()->last_loss);
}

TEST(NodeLosses, ThatAnEarlierAgentHasToldAreNotToldAgain) {
  NodeScene told = serving();
  told.advance(minutes(1)).daemon_dies("killed").settle();
  NodeScene scene = of_earlier_agent(told);
  scene.settle();
  EXPECT_THAT(scene.group()->message, HasSubstr(kMemoryLost));
  EXPECT_EQ(scene.group()->last_loss, told.group()->last_loss);
  scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Starting).settle();
  scene.advance(seconds(2)).settle();
  EXPECT_EQ(scene.group()->last_loss, told.group()->last_loss);

  // It was here in between: a later daemon is reported, and the claim has the first one still.
  for (const bool is_ready : {true, false}) {
    scene = told;
    scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Starting).settle();
    if (is_ready) scene.daemon_ready();
    scene.settle().advance(seconds(3)).settle();
    const auto lost = scene.group()->last_loss;
    PreparedClaim& claim = scene.world.checkpoint.claims.at("a-uid");
    claim.daemon = "i1";
    claim.lost_memory = false;
    scene.settle().advance(seconds(3)).settle();
    EXPECT_EQ(scene.group()->last_loss, lost);
    scene.daemon_is_another(base::DaemonPhase::Starting).world.daemon->instance = "third";
    scene.settle();
    EXPECT_EQ(scene.group()->last_loss != lost, is_ready) << "that one had been READY";
  }
}

// Where the definition lacks what is new, the API server takes it away.
TEST(NodeLosses, ThatAreTakenAwayKeepNoDaemonFailed) {
  NodeScene scene = serving();
  scene.advance(minutes(1)).daemon_is_another(base::DaemonPhase::Ready).settle();
  ASSERT_EQ(scene.group()->state, api::DaemonState::Failed);
  scene.world.report.objects.front().status.groups.front().last_loss.reset();
  const NodePlan plan = scene.advance(seconds(2)).plan();
  ASSERT_EQ(plan.on_server.size(), 1U);
  const auto& report = std::get<PublishReport>(plan.on_server.front()).report;
  EXPECT_EQ(report.groups.front().state, api::DaemonState::Ready);

  // Nor the next ones, after another failure.
  scene.settle();
  auto& said = scene.world.report.objects.front().status.groups.front();
  said.last_loss.reset();
  said.lost_claims.clear();
  said.last_failure = api::DaemonFailure{scene.world.now, "it hangs"};
  said.instance = "before";
  scene.settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
}

// With isolation by domain each claim that is admitted is of another term.
void admit_in_a_new_term(NodeScene& scene, const std::string& name) {
  api::NodeList list = *scene.world.lists.front().stored.list;
  list.entries.front().admits.push_back({name + "-uid", 0});
  ++list.entries.front().term;
  scene.show(list).prepare(name).settle();
}

TEST(NodeLosses, ThatAreNotToldYetAreToldAfterANewTerm) {
  for (const bool is_ready : {false, true}) {
    NodeScene scene = serving();
    scene.advance(minutes(1)).world.report.current = false;
    scene.daemon_dies("killed").world.daemon->starts_again = true;
    admit_in_a_new_term(scene.settle(), "b");
    if (is_ready) scene.advance(milliseconds(250)).daemon_is_another(base::DaemonPhase::Ready);
    scene.settle().world.report.current = true;
    scene.settle();
    EXPECT_EQ(scene.group()->state, api::DaemonState::Failed);
    EXPECT_EQ(scene.group()->term, 2);
    EXPECT_TRUE(scene.group()->last_loss);
    EXPECT_THAT(scene.group()->lost_claims, ElementsAre("a-uid"));
  }
}

TEST(NodeLosses, ThatAreToldOutliveANewTerm) {
  NodeScene scene = serving();
  scene.advance(minutes(1)).daemon_dies("killed").world.daemon->starts_again = true;
  scene.settle();
  const auto lost = scene.group()->last_loss;
  const int writes = scene.report_writes;
  admit_in_a_new_term(scene, "b");
  scene.advance(seconds(1)).settle();
  EXPECT_EQ(scene.group()->term, 2);
  EXPECT_EQ(scene.report_writes, writes + 1);
  EXPECT_EQ(scene.group()->last_loss, lost);
  EXPECT_THAT(scene.group()->lost_claims, ElementsAre("a-uid"));
}

// One pod is deleted, as its Event says, and made again; the other still runs.
TEST(NodeLosses, ThatAreToldOutliveTheReplacementOfOnePod) {
  NodeScene scene = serving();
  scene.show(train().admits("a").admits("c")).prepare("c").settle();
  scene.advance(minutes(1)).daemon_dies("killed").settle();
  const auto lost = scene.group()->last_loss;
  scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Ready).settle();
  scene.advance(seconds(3)).unprepare("a").settle();
  admit_in_a_new_term(scene, "b");
  ASSERT_TRUE(scene.is_prepared("b"));
  scene.advance(seconds(2)).settle();
  EXPECT_EQ(scene.group()->last_loss, lost);
  EXPECT_EQ(scene.group()->last_failure, lost) << "of what reads no lastLoss";
}

TEST(NodeLosses, ASuccessorIsToldAtOnceAlsoBeforeTheReportOfANewTerm) {
  NodeScene scene = serving();
  scene.advance(minutes(1)).world.report.current = false;
  admit_in_a_new_term(scene, "b");
  scene.advance(milliseconds(100)).daemon_is_another(base::DaemonPhase::Starting).settle();
  scene.world.report.current = true;
  scene.settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Failed);
  EXPECT_TRUE(scene.group()->last_loss);
  EXPECT_EQ(scene.group()->last_failure, scene.group()->last_loss);
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

// The clock was ahead when the first daemon ended.
NodeScene with_a_loss_to_come() {
  NodeScene scene = serving();
  scene.show(train().admits("a").admits("b")).prepare("b").settle().advance(minutes(1));
  scene.world.now += std::chrono::hours(1);
  scene.daemon_dies("killed").settle();
  scene.world.now -= std::chrono::hours(1);
  scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Ready).settle();
  return scene.advance(seconds(2)).settle();
}

TEST(NodeLosses, AreToldAlsoOnceTheClockWasSetBack) {
  NodeScene scene = with_a_loss_to_come();
  ASSERT_GT(scene.group()->last_loss->time, scene.world.now);
  scene.advance(minutes(1)).daemon_dies("killed again").settle();
  EXPECT_EQ(scene.group()->last_loss->time, scene.world.now) << "and it is none to come";
  EXPECT_THAT(scene.group()->message, HasSubstr(kMemoryLost));
}

TEST(NodeLosses, AreToldAlsoOnceTheClockWasSetBackAndTheAgentIsAnother) {
  NodeScene scene = with_a_loss_to_come();
  scene.show(train().admits("b").admits("c")).prepare("c").settle();
  scene.unprepare("a").unprepare("b").settle();
  const auto report = restart_unread(scene);
  scene.settle();
  read_report(scene, report);
  scene.settle().advance(minutes(1)).daemon_dies("killed again").settle();
  EXPECT_EQ(scene.group()->last_loss->time, scene.world.now);
  EXPECT_THAT(scene.group()->lost_claims, ElementsAre("c-uid"));
}

// With a node's token anything can be written.
TEST(NodeLosses, AReportThatTellsOfOneToComeHidesNone) {
  NodeScene scene = serving();
  auto& said = scene.world.report.objects.front().status.groups.front();
  said.last_loss = api::DaemonFailure{scene.world.now + std::chrono::hours(9), "never"};
  said.lost_claims = {"a-uid"};
  scene.settle();
  EXPECT_EQ(scene.group()->last_loss, std::nullopt);
  scene.advance(minutes(1)).daemon_dies("killed").settle();
  EXPECT_EQ(scene.group()->last_loss->time, scene.world.now);
}

// It was here in between, and a daemon ended that it had reported READY.
TEST(NodeLosses, OfAnEarlierAgentAreKeptWhereTheyAreLater) {
  NodeScene scene = serving();
  scene.advance(minutes(1)).daemon_dies("first").settle();
  scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Ready).settle();
  scene.advance(minutes(5)).daemon_is_another(base::DaemonPhase::Ready);
  scene.world.daemon->instance = "third";
  auto& said = scene.world.report.objects.front().status.groups.front();
  said.last_loss.reset();
  said.lost_claims.clear();
  said.last_failure = api::DaemonFailure{scene.world.now, base::cat("second; ", kMemoryLost)};
  said.instance = "third";
  const auto second = said.last_failure;
  scene.settle().advance(seconds(5)).settle();
  EXPECT_EQ(scene.group()->last_loss, second);
  EXPECT_THAT(scene.group()->lost_claims, ElementsAre("a-uid"));
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
}

NodeScene without_checkpoint(NodeScene scene) {
  Checkpoint& checkpoint = scene.world.checkpoint;
  for (const auto& [uid, claim] : checkpoint.claims) {
    scene.world.held.push_back({claim.claim, claim.channels});
  }
  Checkpoint lost;
  lost.agent = checkpoint.agent;
  lost.boot_id = checkpoint.boot_id;
  checkpoint = lost;
  return scene;
}

TEST(NodeLosses, AreNotedAlsoWhereTheCheckpointWasLostWhileTheDaemonHung) {
  NodeScene scene = without_checkpoint(hung());
  scene.settle();
  ASSERT_TRUE(scene.world.checkpoint.served);
  scene.daemon_dies("killed").settle();
  EXPECT_TRUE(scene.group()->last_loss);
}

TEST(NodeLosses, AreNotToldAgainWhereTheCheckpointWasLost) {
  for (const bool is_ready : {false, true}) {
    NodeScene scene = serving();
    scene.advance(minutes(1)).daemon_dies("killed").settle();
    const auto lost = scene.group()->last_loss;
    scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Starting).settle();
    scene.advance(seconds(2)).settle();
    if (is_ready) scene.daemon_ready().settle().advance(seconds(2)).settle();
    scene = without_checkpoint(scene);
    scene.settle().advance(seconds(2)).settle();
    EXPECT_EQ(scene.group()->last_loss, lost);
    EXPECT_THAT(scene.group()->lost_claims, ElementsAre("a-uid"));
    if (is_ready) continue;
    // In a new term nothing is left of how often it was started.
    scene.world.report.objects.front().status.groups.front().restarts = 0;
    scene = without_checkpoint(scene);
    scene.settle().daemon_dies("exited with 1").settle().advance(seconds(2)).settle();
    EXPECT_EQ(scene.group()->last_loss, lost);
  }
}

TEST(NodeLosses, AreToldInWordsAlsoWhereTheSupervisorHasNone) {
  NodeScene killed = serving(), stopped = serving();
  killed.advance(minutes(1)).daemon_dies("").settle();
  stopped.advance(minutes(1)).daemon_has_ended().settle();
  for (const NodeScene& scene : {killed, stopped}) {
    ASSERT_TRUE(scene.group()->last_loss);
    EXPECT_EQ(scene.group()->last_loss->message,
              base::cat("the IMEX daemon has ended; ", kMemoryLost));
    EXPECT_EQ(scene.group()->message.find("; "), scene.group()->message.find("; pods"));
  }
}

// Claims whose daemons ended at different times, unseen.
TEST(NodeLosses, AreToldInTheWordsOfTheDaemonThatWasSeen) {
  for (const std::string other : {"0-uid", "z-uid"}) {
    NodeScene scene = serving();
    auto& claims = scene.world.checkpoint.claims;
    PreparedClaim claim = claims.at("a-uid");
    claim.claim.uid = other;
    claim.daemon = "i0";
    claims[other] = claim;
    scene.world.report.objects.clear();
    scene.advance(minutes(1)).daemon_dies("killed").settle();
    EXPECT_THAT(scene.group()->last_loss->message, HasSubstr("killed"));
    EXPECT_EQ(scene.group()->lost_claims.size(), 2U);
  }
}

// Two end before a report gets out. The older of two agents has prepared b with the second one.
TEST(NodeLosses, ThatAreNotToldYetAreToldWithTheNext) {
  NodeScene scene = serving();
  scene.advance(minutes(1)).world.report.current = false;
  scene.daemon_dies("killed").settle();
  PreparedClaim& a = scene.world.checkpoint.claims.at("a-uid");
  ASSERT_TRUE(a.lost_memory);
  PreparedClaim b = a;
  b.claim = claim_ref("b");
  b.daemon = "unseen";
  b.lost_memory = false;
  scene.world.checkpoint.claims["b-uid"] = b;
  scene.world.report.objects.front().status.groups.front().instance.clear();
  scene.advance(seconds(2)).settle().world.report.current = true;
  scene.settle();
  EXPECT_THAT(scene.group()->lost_claims, ElementsAre("a-uid", "b-uid"));
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

// The clock is set back by less than would show.
TEST(NodeLosses, AreNoEarlierThanAFailureThatIsReported) {
  NodeScene hangs = hung();
  const base::Time hung_since = hangs.group()->last_failure->time;
  hangs.world.now -= seconds(50);
  hangs.advance(seconds(5)).daemon_dies("killed").settle();
  ASSERT_TRUE(hangs.group()->last_loss);
  EXPECT_EQ(hangs.group()->last_loss->time, hung_since);
  EXPECT_EQ(hangs.group()->last_failure, hangs.group()->last_loss);

  NodeScene silent = serving(2);
  silent.world.now = std::chrono::floor<seconds>(silent.world.now);
  silent.world.daemon.reset();
  silent.world.supervisor_error = "compute-domain-imex does not answer";
  silent.world.supervisor_silent_since = silent.world.elapsed;
  silent.settle().advance(seconds(3)).settle();
  ASSERT_EQ(silent.group()->state, api::DaemonState::Failed);
  const base::Time silent_since = silent.group()->last_failure->time;
  silent.world.now -= milliseconds(1);
  silent.world.supervisor_has_ended = true;
  silent.settle().advance(seconds(2)).settle();
  ASSERT_TRUE(silent.group()->last_loss);
  EXPECT_EQ(silent.group()->last_loss->time, silent_since);
}

TEST(NodeLosses, AreTheLastFailureAlsoWhereTheClockWasSetBackWhileTheDaemonHung) {
  NodeScene scene = hung();
  scene.world.now -= std::chrono::hours(1);
  scene.advance(seconds(5)).daemon_dies("killed").settle();
  ASSERT_TRUE(scene.group()->last_loss);
  EXPECT_EQ(scene.group()->last_loss->time, scene.world.now);
  EXPECT_EQ(scene.group()->last_failure, scene.group()->last_loss);
  EXPECT_EQ(scene.group()->since, scene.world.now);
}

// The clock was ahead when it was noted, and the report has one of before.
TEST(NodeLosses, ThatAreNotToldYetAreNotReplacedByOneThatWasTold) {
  NodeScene scene = serving();
  scene.advance(minutes(1)).daemon_dies("first").settle();
  scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Ready).settle();
  scene.advance(seconds(3)).settle();
  ASSERT_EQ(scene.group()->state, api::DaemonState::Ready);
  scene.world.report.current = false;
  scene.world.now += std::chrono::hours(1);
  scene.advance(minutes(1)).daemon_dies("second").settle();
  scene.world.now -= std::chrono::hours(1);
  scene.world.report.current = true;
  scene.settle().advance(seconds(2)).settle();
  EXPECT_THAT(scene.group()->last_loss->message, HasSubstr("second"));
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

// A loss was told, then it was here in between and kept what it does not know of the claim.
TEST(NodeLosses, AreNotedOfADaemonThatWasReadyOnlyUnderAnEarlierAgent) {
  for (const std::string now : {"another", "third", ""}) {
    NodeScene scene = serving();
    scene.advance(minutes(1)).daemon_dies("killed").settle();
    const auto first = scene.group()->last_loss;
    const Checkpoint kept = scene.world.checkpoint;
    scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Ready).settle();
    scene.advance(seconds(3)).settle();
    ASSERT_EQ(scene.group()->state, api::DaemonState::Ready);
    scene.world.checkpoint = kept;
    scene.advance(minutes(1)).daemon_dies("killed again");
    if (now == "third") {
      scene.daemon_is_another(base::DaemonPhase::Starting).world.daemon->instance = now;
    } else if (now.empty()) {
      scene.world.daemon.reset();
      scene.world.supervisor_silent_since = scene.world.elapsed;
      scene.world.supervisor_has_ended = true;
    }
    scene.settle();
    EXPECT_NE(scene.group()->last_loss, first) << now;
    const auto second = scene.group()->last_loss;
    scene.advance(seconds(2)).settle();
    EXPECT_EQ(scene.group()->last_loss, second) << now;
  }
}

// Under the earlier agent the node has got the host's.
TEST(NodeLosses, AreNotedOfNoHostsDaemonThatWasReadyOnlyUnderAnEarlierAgent) {
  NodeScene scene = serving();
  scene.advance(minutes(1)).daemon_dies("killed").settle();
  const auto first = scene.group()->last_loss;
  const Checkpoint kept = scene.world.checkpoint;
  scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Ready);
  scene.world.daemon->host_managed = true;
  scene.settle().advance(seconds(3)).settle();
  ASSERT_EQ(scene.group()->state, api::DaemonState::Ready);
  scene.world.checkpoint = kept;
  scene.daemon_is(base::DaemonPhase::Failed).settle().advance(seconds(2)).settle();
  EXPECT_EQ(scene.group()->last_loss, first);
  EXPECT_EQ(scene.world.checkpoint.claims.at("a-uid").daemon, kHostsDaemon);
  EXPECT_FALSE(scene.world.checkpoint.claims.at("a-uid").lost_memory);
}

// Two daemons end before a report gets out; the one that is there calls the first READY.
TEST(NodeLosses, KeepTheirWordsWhereTheReportIsOfTheDaemonBefore) {
  NodeScene scene = serving();
  scene.advance(minutes(1)).world.report.current = false;
  scene.daemon_is_another(base::DaemonPhase::Ready).settle();
  scene.advance(minutes(1)).daemon_dies("killed").settle();
  const auto noted = scene.world.checkpoint.served->loss;
  EXPECT_THAT(noted->message, HasSubstr("killed"));
  scene.advance(seconds(2)).settle();
  EXPECT_EQ(scene.world.checkpoint.served->loss, noted);
}

// It told of a loss in the term before, of which its report has nothing any more.
TEST(NodeLosses, OfAnEarlierAgentsClaimsAreNotThoseOfADaemonThatOnlyStarts) {
  for (const auto phase : {base::DaemonPhase::Starting, base::DaemonPhase::Recovering}) {
    NodeScene scene = serving();
    scene.advance(minutes(1)).daemon_dies("killed").settle();
    ASSERT_TRUE(scene.group()->last_loss);
    scene.advance(seconds(2)).daemon_is_another(phase).settle();
    scene.advance(seconds(2)).settle();
    scene = of_earlier_agent(scene);
    auto& said = scene.world.report.objects.front().status.groups.front();
    said.last_loss.reset();
    said.last_failure.reset();
    said.lost_claims.clear();
    said.restarts = 0;
    said.term = ++scene.world.checkpoint.served->term;
    scene.settle().advance(seconds(2)).settle();
    scene.daemon_dies("exited with 1").settle().advance(seconds(2)).settle();
    EXPECT_EQ(scene.group()->last_loss, std::nullopt);
  }
}

// The report still says Ready of the daemon that ended with its supervisor.
TEST(NodeLosses, OfAnEarlierAgentsClaimsAreNotedOnceTheReportIsRead) {
  NodeScene scene = of_earlier_agent(serving());
  scene.advance(minutes(1));
  const auto report = restart_unread(scene);
  scene.daemon_is_another(base::DaemonPhase::Ready).settle();
  read_report(scene, report);
  scene.settle().advance(seconds(2)).settle();
  EXPECT_TRUE(scene.group()->last_loss);
  EXPECT_THAT(scene.group()->lost_claims, ElementsAre("a-uid"));
}

// Back to 0.1 and up again, while the claim stays prepared.
TEST(NodeLosses, ThatAnEarlierAgentHasToldAreNotToldAgainBeforeTheReportIsRead) {
  for (const bool is_seen_only_now : {false, true}) {
    NodeScene scene = serving();
    scene.advance(minutes(1)).daemon_is_another(base::DaemonPhase::Ready);
    api::ImexGroupReport& said = scene.world.report.objects.front().status.groups.front();
    said.last_failure = api::DaemonFailure{std::chrono::floor<seconds>(scene.world.now),
                                           base::cat("killed; ", kMemoryLost)};
    said.instance = scene.world.daemon->instance;
    ++said.restarts;
    const auto told = said.last_failure;
    scene.advance(minutes(10));
    const auto report = restart_unread(scene);
    if (is_seen_only_now) {
      scene.world.daemon->since = scene.world.elapsed;
      scene.world.daemon->since_time = scene.world.now;
    }
    scene.settle();
    read_report(scene, report);
    scene.settle().advance(seconds(2)).settle();
    EXPECT_EQ(scene.group()->last_loss, told) << is_seen_only_now;
  }
}

// One that was noted and never told, as its claims have ended, leaves the one that was told before.
TEST(NodeLosses, OfNobodyLeaveTheOneBefore) {
  for (const bool is_restarted : {false, true}) {
    NodeScene scene;
    scene.world.settings.isolation = api::Isolation::Channel;
    scene.settle().show(ListBuilder("").admits("a", 7)).settle().daemon_ready().settle();
    scene.prepare("a").settle().advance(minutes(1)).daemon_dies("first").settle();
    const auto first = scene.group("")->last_loss;
    ASSERT_TRUE(first);
    scene.advance(seconds(2)).daemon_is_another(base::DaemonPhase::Ready).settle();
    scene.advance(seconds(3)).settle();
    scene.world.report.current = false;  // writes fail
    scene.advance(minutes(1)).daemon_dies("second").settle();
    ASSERT_NE(scene.world.checkpoint.served->loss->message, first->message);
    scene.advance(seconds(1));
    auto report = scene.world.report.objects;
    if (is_restarted) report = restart_unread(scene);
    scene.unprepare("a");
    if (is_restarted) scene.settle();
    read_report(scene, report);
    scene.settle();
    EXPECT_EQ(scene.group("")->last_loss, first) << is_restarted;
    scene.daemon_is_another(base::DaemonPhase::Ready).world.daemon->instance = "third";
    scene.settle().advance(seconds(2)).settle();
    scene.show(ListBuilder("").admits("b", 8)).prepare("b").settle();
    ASSERT_TRUE(scene.is_prepared("b"));
    scene.advance(minutes(1)).settle();
    EXPECT_EQ(scene.group("")->last_loss, first) << is_restarted;
    EXPECT_THAT(scene.group("")->lost_claims, Not(Contains("b-uid"))) << is_restarted;
  }
}

}  // namespace
}  // namespace cdom::core
