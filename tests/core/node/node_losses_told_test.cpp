// How a loss of memory is told: once, in which words, of which moment, and for how long.
#include "compute_domain/base/text.h"
#include "compute_domain/core/memory_lost.h"
#include "core/node/losses_scene.h"

namespace cdom::core {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

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
