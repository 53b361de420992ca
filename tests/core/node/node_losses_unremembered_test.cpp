// Losses of memory of claims of which no checkpoint says with which daemon they were prepared: an
// agent of 0.1 prepared them, or the checkpoint was lost.
#include "compute_domain/base/text.h"
#include "compute_domain/core/memory_lost.h"
#include "core/node/losses_scene.h"

namespace cdom::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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

// Its checkpoint was lost, so kubelet's next question finds its devices.
TEST(NodeLosses, CountAlsoOnceAClaimIsPreparedAgain) {
  NodeScene scene = hung();
  scene.world.checkpoint.claims.at("a-uid").devices.clear();
  scene.prepare("a").settle();
  ASSERT_FALSE(scene.world.checkpoint.claims.at("a-uid").devices.empty());
  scene.daemon_dies("killed").settle();
  EXPECT_TRUE(scene.group()->last_loss);
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

}  // namespace
}  // namespace cdom::core
