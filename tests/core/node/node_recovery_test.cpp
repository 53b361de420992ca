// A daemon that waits for the importers of an earlier run, and what was lost with a checkpoint.
#include <utility>

#include "core/node/node_scene.h"

namespace cdom::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// n00 and n01 are members, n02 only keeps its slot; n00 starts again after an unclean end and is
// not connected with n02.
NodeScene recovering() {
  NodeScene scene = serving(3);
  api::NodeList list = train(3).admits("a");
  list.entries[2].member = false;
  scene.show(list).daemon_dies().advance(seconds(1)).settle();
  scene.daemon_is(base::DaemonPhase::Recovering, {1}).settle();
  return scene;
}

NodeView with_word(api::DaemonState state, std::int64_t term = 1) {
  NodeView view;
  view.report.emplace();
  view.report->status.boot_id = kBoot;
  view.report->status.groups = {
      {.group = train().operator api::NodeList().group, .slot = 2, .term = term, .state = state}};
  return view;
}

TEST(Recovery, EndsWhenTheAwaitedOneHasSaidStopped) {
  NodeScene scene = recovering();
  scene.peers["n02"] = with_word(api::DaemonState::Stopped);
  scene.advance(seconds(9)).settle();
  EXPECT_EQ(scene.forgets, 0) << "it may come by itself";
  scene.advance(seconds(1)).settle();
  EXPECT_EQ(scene.forgets, 1);
  EXPECT_EQ(scene.starts, 3);
  EXPECT_FALSE(scene.world.checkpoint.served->forget_importers);
}

TEST(Recovery, EndsWhenTheAwaitedNodeHasBootedAgain) {
  NodeScene scene = recovering();
  scene.peers["n02"] = with_word(api::DaemonState::Ready);
  scene.peers["n02"].report->status.boot_id = "boot-2";
  scene.advance(seconds(10)).settle();
  EXPECT_EQ(scene.forgets, 1);
}

TEST(Recovery, GoesOnWhileNothingProvesTheEndOfTheAwaitedOne) {
  NodeScene scene = recovering();
  scene.advance(minutes(30)).settle();
  scene.peers["n02"] = with_word(api::DaemonState::Ready);
  scene.advance(minutes(1)).settle();
  scene.peers["n02"] = with_word(api::DaemonState::Stopped, /*term=*/0);  // of an earlier term
  scene.advance(minutes(1)).settle();
  EXPECT_EQ(scene.stops, 0);

  scene.peers["n02"] = with_word(api::DaemonState::Stopped);
  scene.advance(minutes(1)).settle();
  EXPECT_EQ(scene.forgets, 1);
}

TEST(Recovery, WaitsForAMemberHoweverLong) {
  NodeScene scene = recovering();
  scene.peers["n02"] = with_word(api::DaemonState::Stopped);
  scene.daemon_is(base::DaemonPhase::Recovering, {}).advance(minutes(30)).settle();
  EXPECT_EQ(scene.stops, 0);
  EXPECT_EQ(scene.group()->message,
            "waits for importers of an earlier run; not connected with n01, n02 (no member any "
            "more)");
}

TEST(Recovery, IsWhatAPrepareWaitsFor) {
  NodeScene scene = recovering();
  scene.prepare("a").settle();
  EXPECT_THAT(scene.reason("a"), HasSubstr("importers of an earlier run; not connected with n02"));
}

TEST(Recovery, RemovesTheRecordAlsoAfterACrashOfTheAgent) {
  NodeScene scene = recovering();
  scene.peers["n02"] = with_word(api::DaemonState::Stopped);
  scene.advance(seconds(10));
  bool stopped = false;
  while (!stopped) {
    stopped = !NodeScene::apply_each(scene.plan(), [&](const auto& intent) {
      scene.apply(intent);
      return scene.stops == 0;
    });
  }
  scene.restart_agent().settle();
  EXPECT_EQ(scene.forgets, 1);
  EXPECT_EQ(scene.starts, 3);
}

TEST(LostCheckpoint, LeavesTheReportAsItWas) {
  NodeScene scene = serving(2);
  scene.world.checkpoint = {};
  scene.restart_agent().settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
  EXPECT_THAT(scene.group()->claims, ElementsAre("a-uid"));
}

TEST(LostCheckpoint, IsMadeGoodByTheInjectedChannelsWhenTheReportIsLostToo) {
  NodeScene scene = serving(2);
  scene.world.checkpoint = {};
  scene.world.report.objects.clear();
  scene.world.held = {{claim_ref("a"), {0, 1}}};
  scene.restart_agent().settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
  EXPECT_THAT(scene.group()->claims, ElementsAre("a-uid"));
  EXPECT_EQ(scene.group()->term, 1);
  EXPECT_EQ(scene.world.checkpoint.claims.at("a-uid").claim, claim_ref("a"));

  scene.world.held.clear();
  scene.unprepare("a").settle();
  EXPECT_EQ(scene.stops, 1);
  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
}

// Where the lists are not there yet, and neither is the report.
NodeScene without_checkpoint_or_lists() {
  NodeScene scene = serving(2);
  scene.world.checkpoint = {};
  scene.world.report.objects.clear();
  scene.world.report.current = scene.world.lists_synced = false;
  scene.world.held = {{claim_ref("a"), {0, 1}}};
  scene.show_no_lists().restart_agent();
  return scene;
}

TEST(LostCheckpoint, KeepsAClaimThatIsUnpreparedUntilItsDaemonIsKnown) {
  NodeScene scene = without_checkpoint_or_lists();
  scene.unprepare("a").settle();
  EXPECT_FALSE(scene.unprepared.contains("a-uid"));
  EXPECT_TRUE(scene.injected.contains("a-uid"));
  EXPECT_THAT(scene.reason("a"), HasSubstr("the node lists are not read yet"));
  EXPECT_EQ(scene.stops, 0);

  scene.world.report.current = scene.world.lists_synced = true;
  scene.show(train(2).admits("a")).settle();
  EXPECT_TRUE(scene.unprepared.contains("a-uid"));
  EXPECT_FALSE(scene.injected.contains("a-uid"));
  EXPECT_EQ(scene.stops, 1);
  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
}

// The GPUs may hang, which say whose node lists to read, or the API server be away.
TEST(LostCheckpoint, KeepsNoClaimForLongWhereNodeListsDoNotCome) {
  NodeScene scene = without_checkpoint_or_lists();
  scene.world.knows_held = true;
  scene.unprepare("a").unprepare("b").settle();
  EXPECT_TRUE(scene.unprepared.contains("b-uid")) << "without a file it is not that daemon's";
  EXPECT_FALSE(scene.unprepared.contains("a-uid"));
  scene.advance(seconds(10)).settle();
  EXPECT_TRUE(scene.unprepared.contains("a-uid"));
  EXPECT_FALSE(scene.injected.contains("a-uid"));
}

TEST(LostCheckpoint, LetsGoOfAClaimAtOnceWhereNoDaemonIsLeftToItself) {
  for (const bool is_hosts : {true, false}) {
    NodeScene scene = without_checkpoint_or_lists();
    if (is_hosts) {
      scene.world.daemon->host_managed = true;
    } else {
      scene.daemon_has_ended();
    }
    scene.unprepare("a").settle();
    EXPECT_TRUE(scene.unprepared.contains("a-uid"));
    EXPECT_FALSE(scene.injected.contains("a-uid"));
  }
}

// Claim a is let go where no node lists come; then they come, and no pod is left here.
NodeScene with_a_claim_that_was_let_go(const std::map<std::string, RunningPod>& pods = {}) {
  NodeScene scene = serving(2);
  scene.world.running_pods = pods;
  scene.world.checkpoint = {};
  scene.world.lists_synced = false;
  scene.world.held = {{claim_ref("a"), {0, 1}}};
  scene.show_no_lists().restart_agent();
  scene.unprepare("a").settle();
  scene.advance(seconds(10)).settle();
  EXPECT_TRUE(scene.unprepared.contains("a-uid"));
  scene.world.held.clear();
  return scene.restart_agent();
}

api::NodeList list_without_member() {
  api::NodeList list = train(2);
  list.entries[0].member = false;
  return list;
}

// Its file is gone by then, and only the report still names it: kubelet never will again.
TEST(LostCheckpoint, OfAClaimThatWasLetGoWithoutNodeListsKeepsNoDaemon) {
  NodeScene scene = with_a_claim_that_was_let_go();
  scene.world.lists_synced = true;
  scene.show(list_without_member()).delete_claim("a").settle();
  EXPECT_EQ(scene.stops, 1);
  EXPECT_THAT(scene.world.checkpoint.claims, IsEmpty());
  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
  EXPECT_THAT(scene.world.checkpoint.let_go, IsEmpty());
}

// Deleted by force: kubelet has unprepared its claim, and its containers use the daemon.
TEST(LostCheckpoint, StopsNoDaemonAtOnceUnderAPodThatMayStillRun) {
  for (const char* ns : {"team-a", ""}) {
    const RunningPod pod{.ns = ns, .name = "p", .uid = "p-uid", .claims = {}, .grace_seconds = 30};
    NodeScene scene = with_a_claim_that_was_let_go({{"p-uid", pod}});
    scene.world.lists_synced = true;
    scene.show(list_without_member()).delete_claim("a").settle();
    EXPECT_EQ(scene.stops, 0) << ns;
    EXPECT_TRUE(scene.world.checkpoint.claims.contains("a-uid"));
  }
  const RunningPod other{
      .ns = "team-b", .name = "p", .uid = "p-uid", .claims = {}, .grace_seconds = 30};
  EXPECT_THAT(with_a_claim_that_was_let_go({{"p-uid", other}}).world.checkpoint.let_go,
              ElementsAre("a-uid"));
}

// Of each pod that comes and goes on a node that serves something else.
TEST(LostCheckpoint, RemembersNoClaimThatTheReportDoesNotName) {
  NodeScene scene = serving(2);
  scene.world.checkpoint = {};
  scene.world.lists_synced = false;
  scene.show_no_lists().restart_agent();
  scene.world.has_read_report = true;
  scene.unprepare("z").settle();
  EXPECT_TRUE(scene.unprepared.contains("z-uid"));
  EXPECT_THAT(scene.world.checkpoint.let_go, IsEmpty());
}

TEST(LostCheckpoint, ForgetsWhatWasLetGoWithTheDaemon) {
  NodeScene scene = with_a_claim_that_was_let_go();
  scene.settle();
  EXPECT_THAT(scene.world.checkpoint.let_go, ElementsAre("a-uid")) << "its daemon runs";
  scene.daemon_has_ended().settle();
  EXPECT_THAT(scene.world.checkpoint.let_go, IsEmpty());
}

TEST(LostCheckpoint, RemembersWhatWasLetGoWhileTheSupervisorIsSilent) {
  NodeScene scene = serving(2);
  scene.world.checkpoint = {};
  const auto daemon = std::exchange(scene.world.daemon, std::nullopt);
  scene.restart_agent().unprepare("a").settle();
  ASSERT_TRUE(scene.unprepared.contains("a-uid"));
  scene.world.daemon = daemon;
  scene.show(list_without_member()).settle();
  EXPECT_EQ(scene.stops, 1);
}

// An earlier agent had let it go, or the report could not be written after its end.
TEST(LostCheckpoint, OfAClaimThatOnlyTheReportNamesEndsWhenKubeletHasForgottenIt) {
  NodeScene scene = serving(2);
  scene.world.checkpoint = {};
  scene.show(list_without_member()).delete_claim("a").restart_agent().settle();
  ASSERT_EQ(scene.world.checkpoint.claims.at("a-uid").claim.name, "");
  scene.advance(minutes(30)).settle();
  EXPECT_EQ(scene.stops, 0) << "kubelet's record names it, or its file is there";
  EXPECT_EQ(scene.plan().look_again, std::nullopt);

  scene.world.unnamed_since["a-uid"] = scene.world.elapsed;
  scene.settle().advance(minutes(10) - seconds(1)).settle();
  EXPECT_EQ(scene.stops, 0);
  scene.advance(seconds(1)).settle();
  EXPECT_EQ(scene.stops, 1);
  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
}

TEST(LostCheckpoint, GivesTheSameDevicesWhenKubeletAsksAgain) {
  NodeScene scene = serving(2);
  scene.world.checkpoint = {};
  scene.restart_agent().settle().prepare("a").settle();
  ASSERT_TRUE(scene.is_prepared("a"));
  EXPECT_EQ(scene.prepared.at("a-uid").devices.size(), 1U);
  EXPECT_EQ(scene.starts, 1);
}

TEST(LostCheckpoint, KeepsWhatALaterVersionHasWrittenOfAClaimThatItTookOver) {
  for (const bool is_admin : {false, true}) {
    NodeScene scene = serving(2);
    scene.settle().show(train(2).admits("a").admits("b")).prepare("b").settle();
    PreparedClaim& claim = scene.world.checkpoint.claims.at("b-uid");
    claim.devices.clear();
    claim.later = R"({"laterField":1})";
    api::ResourceClaim object = claim_object("b");
    object.allocation->devices[0].admin_access = is_admin;
    scene.advance(seconds(1)).claim(object).prepare_only("b").settle();
    const PreparedClaim& now = scene.world.checkpoint.claims.at("b-uid");
    EXPECT_EQ(now.devices.size(), 1U);
    EXPECT_EQ(now.admin_access, is_admin);
    EXPECT_EQ(now.later, R"({"laterField":1})");
  }
}

// A node that has served a group of its old clique and has changed over.
NodeScene changed_over() {
  NodeScene scene = serving(2);
  const api::NodeList list = train(2);
  scene.old_lists[list.group] = list;
  scene.world.fabric.clique = "rack-2.1";
  scene.unprepare("a").settle();
  scene.show_no_lists().settle();
  return scene;
}

TEST(NodeStopped, OfAnOldCliqueStaysWhileAListKeepsTheSlot) {
  NodeScene scene = changed_over();
  scene.advance(minutes(30)).settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
}

TEST(NodeStopped, OfAnOldCliqueGoesWithTheList) {
  NodeScene scene = changed_over();
  scene.old_lists.clear();
  scene.advance(minutes(5)).settle();
  EXPECT_EQ(scene.group(), nullptr);
  EXPECT_THAT(scene.world.checkpoint.stopped, IsEmpty());
}

TEST(NodeStopped, OfAnOldCliqueGoesWhenTheSlotIsAnothers) {
  NodeScene scene = changed_over();
  std::erase_if(scene.old_lists.begin()->second.entries,
                [](const api::NodeListEntry& entry) { return entry.node == kSelf; });
  scene.advance(minutes(5)).settle();
  EXPECT_EQ(scene.group(), nullptr);
}

TEST(NodeReport, TellsThatTheFabricHasNeverBeenRead) {
  NodeScene scene;
  scene.world.fabric = {std::nullopt, "NVML: driver not loaded"};
  scene.settle();
  EXPECT_EQ(scene.report().fabric_error, "NVML: driver not loaded");
  EXPECT_EQ(api::clique_of(scene.report()), std::nullopt);
  EXPECT_THAT(scene.world.slices.objects, IsEmpty());

  scene.world.fabric = {kClique, ""};
  scene.settle();
  EXPECT_EQ(scene.report().fabric_error, "");
  EXPECT_EQ(api::clique_of(scene.report()), kClique);
}

}  // namespace
}  // namespace cdom::core
