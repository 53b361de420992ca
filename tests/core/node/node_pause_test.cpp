// What a cordoned Node and the GPU Operator's labels bring about on the node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compute_domain/api/node_labels.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/node_pause.h"
#include "core/node/node_scene.h"

namespace cdom::core {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr char kLabel[] = "nvidia.com/gpu.deploy.dcgm=paused-for-driver-upgrade";
const NodePause kIsCordoned{.is_cordoned = true, .driver = {}};
const NodePause kIsPaused{.is_cordoned = false, .driver = kLabel};

// As the controller tells it.
NodeScene& tell_pause(NodeScene& scene, const NodePause& pause) {
  scene.world.report.objects.at(0).meta.annotations[api::kPauseAnnotation] = to_text(pause);
  return scene.settle();
}

ListBuilder two_in_clique() { return ListBuilder("", 2); }

// With a daemon that runs for the clique, and no claim.
NodeScene standing_daemon() {
  NodeScene scene;
  scene.world.settings.isolation = api::Isolation::Channel;
  scene.settle().show(two_in_clique()).settle().daemon_ready({1}).settle();
  return scene;
}

const api::Condition& condition_told(const NodeScene& scene, const std::string& type) {
  static const api::Condition kNone;
  const api::Condition* found = api::find_condition(scene.report().conditions, type);
  return found == nullptr ? kNone : *found;
}

std::size_t seats_offered(const NodeScene& scene) {
  return scene.world.slices.objects.at(0).devices.size();
}

TEST(NodePause, IsWhatTheNodeSays) {
  api::Node node;
  EXPECT_EQ(pause_of(node), NodePause{});
  node.unschedulable = true;
  EXPECT_EQ(pause_of(node), kIsCordoned);
  node.unschedulable = false;
  node.meta.labels = {{"nvidia.com/gpu.deploy.dcgm", "true"},
                      {"nvidia.com/gpu.deploy.driver", "pre-installed"},
                      {"nvidia.com/gpu-driver-upgrade-state", "upgrade-done"},
                      {"example.com/gpu.deploy.dcgm", "paused-for-driver-upgrade"}};
  EXPECT_EQ(pause_of(node), NodePause{});
  node.meta.labels["nvidia.com/gpu.deploy.dcgm"] = "paused-for-driver-upgrade";
  EXPECT_EQ(pause_of(node), kIsPaused);
}

// The driver manager appends to what is not "true".
TEST(NodePause, KnowsTheOtherPublicSpellings) {
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"nvidia.com/gpu.deploy.client", "paused-for-mig-change"},
           {"nvidia.com/gpu.deploy.device-plugin", "mine_paused-for-driver-upgrade"},
           {"nvidia.com/gpu-driver-upgrade-state", "pod-restart-required"}}) {
    api::Node node;
    node.meta.labels = {{key, value}};
    EXPECT_EQ(pause_of(node).driver, base::cat(key, "=", value));
    EXPECT_TRUE(api::is_read_of_nodes(key)) << key;
  }
  for (const char* state : {"upgrade-required", "cordon-required", "drain-required",
                            "validation-required", "upgrade-failed"}) {
    EXPECT_FALSE(tells_of_pause("nvidia.com/gpu-driver-upgrade-state", state)) << state;
  }
}

TEST(NodePause, ItsTextIsReadAsItWasWritten) {
  for (const NodePause& pause : {NodePause{}, kIsCordoned, kIsPaused, NodePause{true, kLabel}}) {
    EXPECT_EQ(pause_in(to_text(pause)), pause) << to_text(pause);
  }
  EXPECT_EQ(pause_in("cordoned; weather sunny"), kIsCordoned);
  EXPECT_EQ(pause_in(";; ;"), NodePause{});
}

TEST(NodePause, AStandingDaemonRestsOnACordonedNodeAndComesBackInItsSlot) {
  NodeScene scene = standing_daemon();
  const std::int64_t slot = scene.group("")->slot;
  tell_pause(scene, kIsCordoned);
  EXPECT_EQ(scene.stops, 1);
  ASSERT_NE(scene.group(""), nullptr);
  EXPECT_EQ(scene.group("")->state, api::DaemonState::None) << "not Stopped: the slot is kept";
  EXPECT_THAT(scene.group("")->message, HasSubstr("kubectl uncordon n00"));
  EXPECT_EQ(condition_told(scene, "CanServe").status, api::ConditionStatus::True);
  EXPECT_EQ(condition_told(scene, "CanServe").reason, "Cordoned");
  EXPECT_EQ(seats_offered(scene), 8U);
  EXPECT_EQ(scene.world.daemon->driver_paused, false) << "only a pause ends the questions to NVML";
  const int writes = scene.report_writes;
  scene.advance(minutes(10)).settle();
  EXPECT_EQ(scene.report_writes, writes) << "it is at rest";
  EXPECT_EQ(scene.starts, 1);

  tell_pause(scene, {});
  EXPECT_EQ(scene.starts, 2);
  scene.daemon_ready({1}).settle();
  EXPECT_EQ(scene.group("")->state, api::DaemonState::Ready);
  EXPECT_EQ(scene.group("")->slot, slot);
  EXPECT_EQ(condition_told(scene, "CanServe").reason, "RequirementsMet");
}

TEST(NodePause, AClaimOnACordonedNodeStartsTheDaemonAndItsEndStopsIt) {
  NodeScene scene = standing_daemon();
  tell_pause(scene, kIsCordoned);
  scene.show(two_in_clique().admits("a", 7)).prepare("a").settle().daemon_ready({1}).settle();
  EXPECT_TRUE(scene.is_prepared("a"));
  EXPECT_EQ(scene.starts, 2);
  scene.unprepare("a").settle();
  EXPECT_EQ(scene.stops, 2);
  EXPECT_EQ(scene.group("")->state, api::DaemonState::None);
}

TEST(NodePause, WhatHasAClaimIsNotTouched) {
  NodeScene scene = standing_daemon();
  scene.show(two_in_clique().admits("a", 7)).prepare("a").settle();
  tell_pause(scene, {true, kLabel});
  EXPECT_EQ(scene.stops, 0);
  EXPECT_EQ(scene.group("")->state, api::DaemonState::Ready);
  EXPECT_EQ(seats_offered(scene), 0U);
  // Also when kubelet asks for it again.
  scene.prepare_only("a").settle();
  EXPECT_TRUE(scene.is_prepared("a"));

  NodeScene domains = serving(2);
  tell_pause(domains, {true, kLabel});
  EXPECT_EQ(domains.stops, 0);
  EXPECT_EQ(domains.group()->state, api::DaemonState::Ready);
}

TEST(NodePause, APausedDriverHasNoSeatsNoQuestionsAndNoStandingDaemon) {
  NodeScene scene = standing_daemon();
  // What is missing because of it is not told beside it.
  scene.world.faults = {{kFaultImex, "ImexCannotStart", "no nvidia-imex below the driver root"}};
  tell_pause(scene, kIsPaused);
  EXPECT_EQ(scene.stops, 1);
  EXPECT_EQ(scene.world.daemon->driver_paused, true);
  EXPECT_EQ(seats_offered(scene), 0U);
  EXPECT_EQ(condition_told(scene, "CanServe").status, api::ConditionStatus::False);
  EXPECT_EQ(condition_told(scene, "CanServe").reason, "DriverPaused");
  EXPECT_THAT(condition_told(scene, "CanServe").message, HasSubstr(kLabel));
  EXPECT_EQ(condition_told(scene, "Driver").reason, "DriverPaused");
  EXPECT_EQ(condition_told(scene, kFaultImex).reason, "");
  EXPECT_THAT(scene.group("")->message, HasSubstr(kLabel));

  scene.world.faults.clear();
  tell_pause(scene, {});
  EXPECT_EQ(scene.world.daemon->driver_paused, false);
  EXPECT_EQ(seats_offered(scene), 8U);
  EXPECT_EQ(scene.starts, 2);
  EXPECT_EQ(condition_told(scene, "CanServe").status, api::ConditionStatus::True);
  EXPECT_EQ(condition_told(scene, "Driver").reason, "");
}

TEST(NodePause, AClaimThatComesWhileTheDriverIsPausedWaitsWithTheReason) {
  NodeScene scene;
  scene.settle();
  tell_pause(scene, kIsPaused);
  scene.show(train().admits("a")).prepare("a").settle();
  EXPECT_EQ(scene.starts, 0);
  EXPECT_THAT(scene.reason("a"), HasSubstr(kLabel));
  tell_pause(scene, {});
  EXPECT_EQ(scene.starts, 1);
  scene.daemon_ready().settle();
  EXPECT_TRUE(scene.is_prepared("a"));
}

TEST(NodePause, ADaemonThatIsEndingEndsOnce) {
  NodeScene scene = standing_daemon();
  scene.daemon_ends_slowly();
  tell_pause(scene, kIsCordoned);
  EXPECT_EQ(scene.stops, 1);
  tell_pause(scene, {});
  EXPECT_EQ(scene.starts, 1) << "not beside the one that ends";
  scene.daemon_has_ended().settle();
  EXPECT_EQ(scene.starts, 2);
}

// A new agent does not know it before it has seen its ComputeDomainNode.
TEST(NodePause, NothingStandsOrIsAskedAgainBeforeItIsKnown) {
  NodeScene scene = standing_daemon();
  tell_pause(scene, {true, kLabel});
  const auto report = scene.world.report;
  scene.world.report = {};
  scene.restart_agent().settle();
  EXPECT_EQ(scene.starts, 1);
  EXPECT_EQ(scene.world.daemon->driver_paused, true);
  scene.world.report = report;
  scene.settle();
  EXPECT_EQ(scene.starts, 1);
  EXPECT_EQ(scene.world.daemon->driver_paused, true);
}

TEST(NodePause, ASupervisorThatWasReplacedIsToldAgainAndAnOlderOneIsNot) {
  NodeScene scene = standing_daemon();
  tell_pause(scene, kIsPaused);
  scene.world.daemon->driver_paused = false;
  scene.settle();
  EXPECT_EQ(scene.world.daemon->driver_paused, true);
  scene.world.daemon->driver_paused = std::nullopt;
  EXPECT_TRUE(NodeScene::is_empty(scene.plan()));
}

TEST(NodePause, ADaemonThatHasEndedIsNotStartedAgainOnACordonedNode) {
  NodeScene scene = standing_daemon();
  scene.daemon_dies();
  scene.world.daemon->starts_again = true;
  tell_pause(scene, kIsCordoned);
  EXPECT_EQ(scene.stops, 1);
  EXPECT_EQ(scene.world.daemon->starts_again, false);
}

TEST(NodePause, TheHostsOwnDaemonIsTheHostsToStop) {
  NodeScene scene;
  scene.world.settings.isolation = api::Isolation::Channel;
  scene.world.daemon->host_managed = true;
  scene.settle().show(two_in_clique()).settle().daemon_ready().settle();
  tell_pause(scene, {true, kLabel});
  EXPECT_EQ(scene.stops, 0);
  EXPECT_EQ(scene.world.daemon->driver_paused, true);
  EXPECT_EQ(seats_offered(scene), 0U);
}

TEST(NodePause, NothingRunsAheadOfItsClaimsWhileTheDriverIsReplaced) {
  NodeScene scene;
  tell_pause(scene.settle(), kIsPaused).show(train(2).admits("a")).settle();
  EXPECT_EQ(scene.starts, 0);
  tell_pause(scene, {});
  EXPECT_EQ(scene.starts, 1);
  tell_pause(scene.daemon_ready({1}).settle(), kIsPaused);
  EXPECT_EQ(scene.stops, 1);
}

}  // namespace
}  // namespace cdom::core
