// What a node lacks, and what it cannot do for one claim: what that stops, and who reads of it.
#include "core/node/node_scene.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cdom::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr char kNoChannels[] = "/proc/devices has no character device nvidia-caps-imex-channels";

NodeFault no_channels() { return {kFaultChannels, "NoImexChannels", kNoChannels}; }

std::size_t devices_of(const NodeScene& scene) {
  return scene.world.slices.objects.at(0).devices.size();
}

const api::Condition* condition(const NodeScene& scene, const char* type) {
  return api::find_condition(scene.report().conditions, type);
}

void fail_for_a_second(NodeScene& scene, const std::string& of, const std::string& error) {
  scene.world.setbacks[of] = {error, scene.world.elapsed + seconds(1)};
}

TEST(NodeSetback, OfOneClaimStopsNeitherOthersNorTheReport) {
  NodeScene scene;
  scene.settle();
  fail_for_a_second(scene, "a-uid", "cannot write its file");
  scene.show(train().admits("a").admits("b")).prepare("a").prepare("b").settle();
  scene.daemon_ready().settle();
  EXPECT_FALSE(scene.is_prepared("a"));
  EXPECT_EQ(scene.reason("a"), "cannot write its file");
  EXPECT_TRUE(scene.is_prepared("b"));
  EXPECT_THAT(scene.group()->claims, ElementsAre("b-uid"));
  EXPECT_LE(scene.plan().look_again, seconds(1));

  scene.world.setbacks.clear();
  scene.settle();
  EXPECT_TRUE(scene.is_prepared("a"));
}

TEST(NodeSetback, OfOneClaimThatEndsHoldsBackThatOneOnly) {
  NodeScene scene;
  scene.settle().show(train().admits("a").admits("b")).prepare("a").prepare("b").settle();
  scene.daemon_ready().settle();
  fail_for_a_second(scene, "a-uid", "cannot remove its file");
  scene.unprepare("a").unprepare("b").settle();
  EXPECT_FALSE(scene.unprepared.contains("a-uid"));
  EXPECT_TRUE(scene.unprepared.contains("b-uid"));
  EXPECT_TRUE(scene.world.daemon->running) << "a claim of its group has not ended";

  scene.advance(seconds(1)).settle();
  EXPECT_TRUE(scene.unprepared.contains("a-uid"));
  EXPECT_FALSE(scene.world.daemon->running);
}

TEST(NodeSetback, OfTheDaemonIsWhatItsClaimsWaitFor) {
  NodeScene scene;
  scene.settle();
  fail_for_a_second(scene, kDaemonSetback, "cannot write the hosts file");
  scene.show(train().admits("a")).prepare("a").settle();
  EXPECT_EQ(scene.starts, 0);
  EXPECT_EQ(scene.reason("a"), "cannot write the hosts file");
  scene.advance(seconds(1)).settle();
  EXPECT_EQ(scene.starts, 1);
}

TEST(NodeSetback, AfterARebootAFileThatStaysKeepsNothingElseFromBeginning) {
  NodeScene scene = serving(1);
  scene.world.self.boot_id = "boot-2";
  scene.daemon_has_ended();
  fail_for_a_second(scene, "a-uid", "cannot remove its file");
  scene.settle();
  EXPECT_THAT(scene.world.checkpoint.claims, IsEmpty());
  EXPECT_EQ(scene.report().boot_id, "boot-2");
}

TEST(NodeFaults, ANodeThatCannotInjectOffersNoDeviceAndSaysWhy) {
  NodeScene scene;
  scene.world.faults = {no_channels()};
  scene.settle();
  EXPECT_EQ(devices_of(scene), 0U);
  const api::Condition* can_serve = condition(scene, api::kConditionCanServe);
  ASSERT_NE(can_serve, nullptr);
  EXPECT_EQ(can_serve->status, api::ConditionStatus::False);
  EXPECT_EQ(can_serve->reason, "NoImexChannels");
  EXPECT_EQ(can_serve->message, kNoChannels);
  ASSERT_NE(condition(scene, kFaultChannels), nullptr);
  EXPECT_EQ(scene.report().summary.message, kNoChannels) << "as kubectl get shows it";

  const base::Time lasting = can_serve->last_transition;
  scene.advance(minutes(1)).settle();
  EXPECT_EQ(condition(scene, api::kConditionCanServe)->last_transition, lasting);
  scene.world.faults.clear();
  scene.settle();
  EXPECT_EQ(devices_of(scene), 1U);
  EXPECT_EQ(condition(scene, api::kConditionCanServe)->reason, "RequirementsMet");
  EXPECT_NE(condition(scene, api::kConditionCanServe)->last_transition, lasting);
  EXPECT_EQ(condition(scene, kFaultChannels), nullptr);
}

TEST(NodeFaults, WithoutAFabricChannelsAreNotMissed) {
  NodeScene scene;
  scene.world.fabric.clique = "";
  scene.world.faults = {no_channels()};
  scene.settle();
  EXPECT_EQ(devices_of(scene), 1U);
  EXPECT_EQ(condition(scene, api::kConditionCanServe)->status, api::ConditionStatus::True);
}

TEST(NodeFaults, ThatKeepItFromNothingAreOnlyTold) {
  NodeScene scene;
  scene.world.faults = {{"PageSize", "SmallPages", "64 KiB are better", false}};
  scene.settle();
  EXPECT_EQ(devices_of(scene), 1U);
  EXPECT_EQ(condition(scene, "PageSize")->status, api::ConditionStatus::False);
  EXPECT_EQ(condition(scene, "PageSize")->message, "64 KiB are better");
  EXPECT_EQ(condition(scene, api::kConditionCanServe)->status, api::ConditionStatus::True);
  EXPECT_EQ(scene.report().summary.message, "");

  scene.world.faults.push_back(no_channels());
  scene.settle();
  EXPECT_EQ(devices_of(scene), 0U);
  EXPECT_EQ(condition(scene, api::kConditionCanServe)->message, kNoChannels);
}

NodeScene with_channels(std::int64_t count, api::Isolation isolation) {
  NodeScene scene;
  scene.world.settings.isolation = isolation;
  scene.world.channel_count = count;
  return scene;
}

TEST(NodeFaults, ByChannelTheDriverHasEachNumberThatADomainMayGet) {
  NodeScene scene = with_channels(256, api::Isolation::Channel);
  scene.settle();
  EXPECT_EQ(devices_of(scene), 0U);
  EXPECT_EQ(condition(scene, api::kConditionCanServe)->reason, "TooFewImexChannels");
  ASSERT_NE(condition(scene, kFaultChannels), nullptr);
  EXPECT_THAT(condition(scene, kFaultChannels)->message,
              HasSubstr("the NVIDIA driver has 256 IMEX channels, and a domain may get any of 2048 "
                        "(IMEX_CHANNELS): load it with NVreg_ImexChannelCount=2048"));
  scene.world.settings.channels = 256;
  scene.settle();
  EXPECT_EQ(devices_of(scene), 8U);
  EXPECT_EQ(condition(scene, kFaultChannels), nullptr);
}

TEST(NodeFaults, ByDomainItNeedsOne) {
  NodeScene scene = with_channels(256, api::Isolation::Domain);
  scene.settle();
  EXPECT_EQ(devices_of(scene), 1U);
}

TEST(NodeFaults, WithoutChannelsThereAreNotTooFewToo) {
  NodeScene scene = with_channels(0, api::Isolation::Channel);
  scene.world.faults = {no_channels()};
  scene.settle();
  EXPECT_EQ(condition(scene, api::kConditionCanServe)->message, kNoChannels);
}

TEST(NodeFaults, OfTheFabricWithholdDevicesAndLeaveWhatIsPreparedAlone) {
  NodeScene scene = serving(2);
  scene.world.fabric.faults = {{kFaultFabricHealth, "FabricUnhealthy", "GPU 0 is unhealthy"}};
  scene.settle();
  EXPECT_EQ(devices_of(scene), 0U);
  EXPECT_EQ(condition(scene, kFaultFabricHealth)->message, "GPU 0 is unhealthy");
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
  EXPECT_TRUE(scene.world.daemon->running);
}

TEST(NodeFaults, AnOldDriverMattersOnlyToADaemonOfOurs) {
  NodeScene scene;
  scene.world.fabric.faults = {{kFaultDriver, "DriverTooOld", "570.86.15 is too old"}};
  scene.settle();
  EXPECT_EQ(devices_of(scene), 0U);
  scene.world.daemon->host_managed = true;
  scene.settle();
  EXPECT_EQ(devices_of(scene), 1U);
}

NodeScene without_gpus() {
  NodeScene scene;
  scene.world.fabric = {.clique = "", .error = {}, .sees_gpus = false};
  return scene;
}

TEST(NodeWithoutGpus, HasNoFabricWhenNobodyKnowsBetter) {
  NodeScene scene = without_gpus();
  scene.settle();
  EXPECT_EQ(api::clique_of(scene.report()), "");
  EXPECT_EQ(devices_of(scene), 1U);
}

TEST(NodeWithoutGpus, IsAFaultWhereTheReportKnowsAClique) {
  NodeScene before;
  before.settle();
  NodeScene scene = without_gpus();
  scene.world.report.objects = before.world.report.objects;
  scene.world.slices.objects = before.world.slices.objects;
  scene.settle();
  EXPECT_EQ(scene.world.checkpoint.clique, std::nullopt);
  EXPECT_THAT(scene.report().fabric_error,
              HasSubstr("the driver sees no GPU, and by ComputeDomainNode n00 this node is in "
                        "NVLink clique rack-1.7"));
  EXPECT_EQ(devices_of(scene), 0U);
}

TEST(NodeWithoutGpus, IsAFaultWhereTheLabelKnowsAClique) {
  NodeScene scene = without_gpus();
  api::Node node;
  node.meta.labels[api::kNodeCliqueLabel] = "rack-1.7";
  scene.peers[kSelf].node = node;
  scene.settle();
  EXPECT_THAT(scene.report().fabric_error, HasSubstr("by the label nvidia.com/gpu.clique"));
  EXPECT_THAT(scene.world.slices.objects, IsEmpty());

  scene.peers[kSelf].node->meta.labels.clear();
  scene.world.report.objects.clear();
  scene.advance(minutes(1)).settle();
  EXPECT_EQ(scene.report().fabric_error, "");
  EXPECT_EQ(devices_of(scene), 1U);
}

TEST(NodeWithoutGpus, IsAFaultWhereTheNodeServesAClique) {
  NodeScene scene = serving(1);
  scene.world.fabric = {.clique = "", .error = {}, .sees_gpus = false};
  scene.settle();
  EXPECT_EQ(scene.report().next_clique, std::nullopt);
  EXPECT_THAT(scene.report().fabric_error, HasSubstr("by its checkpoint"));
}

api::ResourceClaim claim_of_namespace(const std::string& name, const std::string& ns) {
  api::ResourceClaim claim = claim_object(name);
  claim.meta.ns = ns;
  return claim;
}

TEST(NodePending, TellsWhatKubeletIsTold) {
  NodeScene scene = serving(1);
  scene.show(ListBuilder("other-uid").admits("b")).prepare("b").settle();
  EXPECT_THAT(scene.report().pending_claims, IsEmpty()) << "most waits are short";
  scene.advance(seconds(5)).settle();
  ASSERT_THAT(scene.report().pending_claims, SizeIs(1));
  EXPECT_EQ(scene.report().pending_claims[0].uid, "b-uid");
  const std::string waits = scene.report().pending_claims[0].message;
  EXPECT_EQ(waits,
            "this node still runs the IMEX daemon of another ComputeDomain, for ResourceClaim "
            "team-a/a; it ends with them");

  const int writes = scene.report_writes;
  scene.world.refused["b-uid"] = waits;  // as the agent remembers
  scene.advance(seconds(35)).settle();
  EXPECT_THAT(scene.error("b"), HasSubstr("is not ready after 40s: " + waits));
  scene.advance(seconds(50)).prepare("b").settle();
  EXPECT_EQ(scene.report_writes, writes) << "it waits for the same as before";
  EXPECT_EQ(scene.report().pending_claims[0].message, waits);

  scene.unprepare("a").settle().daemon_ready().settle();
  scene.world.refused.clear();
  scene.settle();
  EXPECT_TRUE(scene.is_prepared("b"));
  EXPECT_THAT(scene.report().pending_claims, IsEmpty());
}

// Kubelet tries again each 90 s, for as long as the pod is there.
TEST(NodePending, KeepsARefusalWhileTheClaimIsLookedAtAgain) {
  NodeScene scene;
  scene.settle().prepare("a").settle().advance(seconds(5)).settle();
  const std::string refusal = scene.error("a");
  ASSERT_THAT(refusal, HasSubstr("there is no ComputeDomain with UID train-uid"));
  scene.world.refused["a-uid"] = refusal;  // as the agent remembers
  scene.settle();
  ASSERT_THAT(scene.report().pending_claims, SizeIs(1));
  EXPECT_EQ(scene.report().pending_claims[0].message, refusal);

  const int writes = scene.report_writes;
  for (int time = 0; time < 3; ++time) {
    scene.advance(seconds(85)).prepare("a").settle();
    for (int i = 0; i < 5; ++i) scene.advance(seconds(1)).settle();
    EXPECT_EQ(scene.error("a"), refusal);
  }
  EXPECT_EQ(scene.report_writes, writes);
}

TEST(NodePending, NamesNoClaimOfAnotherNamespace) {
  NodeScene scene = serving(1);
  scene.world.checkpoint.claims.at("a-uid").claim.ns = "team-b";
  scene.show(ListBuilder("other-uid").admits("b")).claim(claim_of_namespace("b", "team-a"));
  scene.prepare("b").settle();
  EXPECT_THAT(scene.reason("b"), HasSubstr("for 1 ResourceClaim of other namespaces"));
  EXPECT_THAT(scene.reason("b"), Not(HasSubstr("team-b")));
}

TEST(NodePending, IsCutWhereTheReportHasNoRoom) {
  NodeScene scene;
  scene.settle();
  scene.world.refused["a-uid"] = std::string(1022, 'x') + "üü";
  scene.settle();
  const std::string message = scene.report().pending_claims.at(0).message;
  EXPECT_EQ(message, std::string(1021, 'x') + "…");
}

}  // namespace
}  // namespace cdom::core
