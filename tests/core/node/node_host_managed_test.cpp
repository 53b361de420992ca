// A node whose IMEX daemon is the host's own: prepared once that is READY, whoever it is connected
// to.
#include "core/node/node_scene.h"

namespace cdom::core {
namespace {

using testing::HasSubstr;

TEST(HostManagedNode, AClaimWaitsForTheHostsDaemonAndForNoPeer) {
  NodeScene scene;
  scene.settle().show(train(3).admits("a")).prepare("a").settle();
  EXPECT_FALSE(scene.is_prepared("a"));
  scene.world.daemon->host_managed = true;
  scene.daemon_ready().settle();
  EXPECT_TRUE(scene.is_prepared("a"));
  ASSERT_NE(scene.group(), nullptr);
  EXPECT_EQ(scene.group()->state, api::DaemonState::Ready);
  EXPECT_TRUE(scene.report().host_managed);
  scene.advance(minutes(1)).settle();
  EXPECT_TRUE(scene.group()->unreachable.empty());
  EXPECT_EQ(scene.signals, 0);
}

TEST(HostManagedNode, ItsDaemonsStateIsTold) {
  NodeScene scene;
  scene.settle().show(train().admits("a")).prepare("a").settle();
  scene.world.daemon->host_managed = true;
  scene.daemon_ready().settle();
  scene.daemon_is(base::DaemonPhase::Failed);
  scene.world.daemon->message = "nvidia-imex does not answer; it is the host's own";
  scene.advance(seconds(2)).settle();
  EXPECT_EQ(scene.group()->state, api::DaemonState::Failed);
  EXPECT_THAT(scene.group()->message, HasSubstr("the host's own"));
}

TEST(HostManagedNode, WithIsolationByChannelItIsGoneByBeforeThereIsAClaim) {
  NodeScene scene;
  scene.world.settings.isolation = api::Isolation::Channel;
  scene.world.daemon->host_managed = true;
  scene.settle().show(ListBuilder("", 2)).settle();
  scene.daemon_ready().settle();
  ASSERT_NE(scene.group(""), nullptr);
  EXPECT_EQ(scene.group("")->state, api::DaemonState::Ready);
  EXPECT_TRUE(scene.report().host_managed);

  scene.show(ListBuilder("", 2).admits("a", 7)).prepare("a").settle();
  EXPECT_TRUE(scene.is_prepared("a"));
  EXPECT_EQ(scene.world.checkpoint.claims.at("a-uid").channels, (ChannelRange{7, 1}));
  scene.unprepare("a").settle();
  EXPECT_EQ(scene.stops, 0);
  EXPECT_EQ(scene.signals, 0);
}

}  // namespace
}  // namespace cdom::core
