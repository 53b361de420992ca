// Claims that kubelet has unprepared while it still runs containers of their pods, as it does once
// a minute for pods that were deleted by force (Kubernetes 1.36 and 1.37).
#include "compute_domain/core/node_pause.h"
#include "core/node/node_scene.h"

namespace cdom::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

RunningPod pod(const std::string& uid = "p-uid", const std::set<std::string>& claims = {}) {
  return {.ns = "team-a", .name = "p", .uid = uid, .claims = claims, .grace_seconds = 30};
}

// Serves claim a, whose pod kubelet runs.
NodeScene running() {
  NodeScene scene = serving();
  scene.world.running_pods = {{"p-uid", pod()}};
  return scene;
}

TEST(NodeHeldClaim, IsAnsweredAtOnceAndKeepsItsDaemonAndItsFilesUntilThePodHasEnded) {
  NodeScene scene = running();
  scene.unprepare("a").settle();
  EXPECT_TRUE(scene.unprepared.contains("a-uid")) << "kubelet goes on with the pod only then";
  EXPECT_EQ(scene.stops, 0);
  EXPECT_THAT(scene.injected, ElementsAre("a-uid"));
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
  EXPECT_THAT(scene.group()->claims, ElementsAre("a-uid"));

  scene.world.running_pods.clear();
  scene.settle();
  EXPECT_EQ(scene.stops, 1);
  EXPECT_THAT(scene.injected, IsEmpty());
  EXPECT_EQ(scene.group()->state, api::DaemonState::Stopped);
}

TEST(NodeHeldClaim, IsWrittenDownBeforeKubeletHasItsAnswer) {
  NodeScene scene = running();
  scene.unprepare("a");
  const NodePlan plan = scene.plan();
  ASSERT_EQ(plan.on_node.size(), 2U);
  const auto* written = std::get_if<WriteCheckpoint>(&plan.on_node.front());
  ASSERT_NE(written, nullptr);
  EXPECT_EQ(written->checkpoint.claims.at("a-uid").phase, ClaimPhase::Ending);
  EXPECT_EQ(written->checkpoint.claims.at("a-uid").held_by,
            (std::map<std::string, std::int64_t>{{"p-uid", 30}}));
  EXPECT_TRUE(std::holds_alternative<AnswerUnprepared>(plan.on_node.back()));
}

TEST(NodeHeldClaim, LetsNoOtherDomainHaveTheNode) {
  NodeScene scene = running();
  scene.unprepare("a").settle();
  scene.show(ListBuilder("eval-uid").admits("b")).prepare("b").settle();
  EXPECT_FALSE(scene.is_prepared("b"));
  EXPECT_THAT(scene.reason("b"), HasSubstr("still runs the IMEX daemon of another ComputeDomain"));

  scene.world.running_pods.clear();
  scene.settle().daemon_ready().settle();
  EXPECT_TRUE(scene.is_prepared("b"));
}

TEST(NodeHeldClaim, IsOfThePodsThatNameItToo) {
  NodeScene scene = running();
  // Of a claim of its own name in its namespace; the others have nothing to do with it.
  scene.world.running_pods = {{"q-uid", pod("q-uid", {"a"})},
                              {"r-uid", pod("r-uid", {"b"})},
                              {"s-uid", pod("s-uid", {"a"})}};
  scene.world.running_pods["s-uid"].ns = "team-b";
  scene.unprepare("a").settle();
  EXPECT_EQ(scene.world.checkpoint.claims.at("a-uid").held_by,
            (std::map<std::string, std::int64_t>{{"q-uid", 30}}));
  scene.world.running_pods.erase("q-uid");
  scene.settle();
  EXPECT_EQ(scene.stops, 1);
}

TEST(NodeHeldClaim, WaitsForTheLastOfItsPods) {
  NodeScene scene = running();
  scene.world.running_pods["q-uid"] = pod("q-uid", {"a"});
  scene.unprepare("a").settle();
  scene.world.running_pods.erase("p-uid");
  scene.settle();
  EXPECT_EQ(scene.stops, 0);
  scene.world.running_pods.clear();
  scene.settle();
  EXPECT_EQ(scene.stops, 1);
}

TEST(NodeHeldClaim, ComesBackIntoUseWhenKubeletWantsItForTheNextPod) {
  NodeScene scene = running();
  scene.unprepare("a").settle();
  scene.prepare("a").settle();
  EXPECT_TRUE(scene.is_prepared("a"));
  EXPECT_EQ(scene.starts, 1) << "its daemon has never ended";
  scene.world.running_pods.clear();
  scene.settle();
  EXPECT_EQ(scene.stops, 0) << "the end of the pod before it is none of its own";
}

TEST(NodeHeldClaim, KeepsWhatALaterVersionHasWrittenWhenItIsWantedAgain) {
  NodeScene scene = running();
  PreparedClaim& claim = scene.world.checkpoint.claims.at("a-uid");
  claim.later = claim.devices.at(0).later = R"({"laterField":1})";
  claim.later_phase = "PrepareLater";
  const PreparedClaim before = claim;
  scene.unprepare("a").settle();
  scene.prepare("a").settle();
  ASSERT_TRUE(scene.is_prepared("a"));
  const PreparedClaim& now = scene.world.checkpoint.claims.at("a-uid");
  EXPECT_EQ(now.phase, ClaimPhase::Completed);
  EXPECT_EQ(now.later_phase, "") << "this version has prepared it";
  EXPECT_EQ(now.later, before.later);
  EXPECT_EQ(now.devices, before.devices);
}

// The scheduler has allocated it again meanwhile, with another device.
TEST(NodeHeldClaim, DoesNotComeBackAsAnotherThanItWas) {
  NodeScene scene = running();
  scene.unprepare("a").settle();
  api::ResourceClaim moved = claim_object("a");
  moved.allocation->devices.front().device = "channel-1";
  scene.advance(seconds(1)).claim(moved).prepare_only("a").settle();
  EXPECT_FALSE(scene.is_prepared("a"));
  EXPECT_THAT(scene.reason("a"), HasSubstr("is still being unprepared"));

  scene.world.running_pods.clear();
  scene.settle().daemon_ready().settle();
  EXPECT_TRUE(scene.is_prepared("a"));
  EXPECT_EQ(scene.prepared.at("a-uid").devices.front().ref.device, "channel-1");
}

TEST(NodeHeldClaim, ThereIsNoneWithoutAFabric) {
  NodeScene scene;
  scene.world.fabric.clique = "";
  scene.world.running_pods = {{"p-uid", pod()}};
  scene.settle().show(train().admits("a").without_fabric()).prepare("a").settle();
  scene.unprepare("a").settle();
  EXPECT_TRUE(scene.world.checkpoint.claims.empty());
}

// With isolation by channel the daemon of a cordoned node rests when no claim is there.
TEST(NodeHeldClaim, KeepsTheDaemonOfACordonedNodeFromResting) {
  NodeScene scene;
  scene.world.settings.isolation = api::Isolation::Channel;
  scene.settle().show(ListBuilder("", 2).admits("a", 7)).settle().daemon_ready({1});
  scene.prepare("a").settle();
  ASSERT_TRUE(scene.is_prepared("a"));
  scene.world.running_pods = {{"p-uid", pod()}};
  scene.unprepare("a").settle();
  const NodePause cordoned{.is_cordoned = true, .driver = {}};
  scene.world.report.objects.at(0).meta.annotations[api::kPauseAnnotation] = to_text(cordoned);
  scene.settle();
  EXPECT_EQ(scene.stops, 0);
  EXPECT_EQ(scene.group("")->channels, "7");

  scene.world.running_pods.clear();
  scene.settle();
  EXPECT_EQ(scene.stops, 1);
  EXPECT_EQ(scene.group("")->channels, "");
}

TEST(NodeHeldClaim, IsReportedWhenItLasts) {
  NodeScene scene = running();
  const int writes = scene.report_writes;
  scene.unprepare("a").settle();
  scene.world.held_since["a-uid"] = scene.world.elapsed;
  scene.advance(seconds(4)).settle();
  EXPECT_EQ(scene.report_writes, writes) << "every pod that ends has such a moment";
  EXPECT_EQ(scene.plan().look_again, seconds(1));
  EXPECT_THAT(scene.reason("a"), HasSubstr("kubelet has not reported that pod team-a/p has ended"));

  scene.advance(seconds(1)).settle();
  EXPECT_EQ(scene.plan().look_again, std::nullopt) << "its end is reported";
  EXPECT_THAT(scene.group()->message,
              HasSubstr("ResourceClaim team-a/a (pod team-a/p) is unprepared, but kubelet has not "
                        "reported that its pod has ended (deleted by force?)"));
  scene.world.running_pods["p-uid"].name = "";  // as of one that another process has seen
  EXPECT_THAT(scene.reason("a"), HasSubstr("pod UID p-uid"));
  scene.world.running_pods.clear();
  scene.world.held_since.clear();
  scene.settle();
  EXPECT_THAT(scene.group()->message, Not(HasSubstr("kubelet has not reported")));
}

TEST(NodeHeldClaim, OfAnOlderAgentIsAnsweredAndEndedByTheNewerOne) {
  NodeScene scene = running();
  scene.world.checkpoint.agent = "newer";
  scene.world.self.agent = "older";
  scene.unprepare("a").settle();
  EXPECT_TRUE(scene.unprepared.contains("a-uid"));
  scene.world.running_pods.clear();
  scene.settle();
  EXPECT_EQ(scene.stops, 0);
  scene.world.self.agent = "newer";
  scene.settle();
  EXPECT_EQ(scene.stops, 1);
}

TEST(NodeHeldClaim, ThereIsNoneWhereKubeletTellsNoPods) {
  NodeScene scene = serving();
  scene.unprepare("a").settle();
  EXPECT_EQ(scene.stops, 1);
}

}  // namespace
}  // namespace cdom::core
