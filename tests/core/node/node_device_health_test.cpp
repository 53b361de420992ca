#include "compute_domain/core/device_health.h"
#include "core/node/node_scene.h"

namespace cdom::core {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using State = DeviceHealth::State;

DeviceHealth device_of(const NodeScene& scene) {
  const auto devices = device_health(scene.world);
  EXPECT_THAT(devices, SizeIs(1));
  return devices.empty() ? DeviceHealth{} : devices.front();
}

TEST(NodeDeviceHealth, IsNotTellableBeforeTheCliqueIsKnown) {
  NodeScene scene;
  EXPECT_THAT(device_health(scene.world), IsEmpty());
}

TEST(NodeDeviceHealth, IsThatOfThePublishedSeat) {
  NodeScene scene;
  scene.settle();
  EXPECT_EQ(device_of(scene), (DeviceHealth{kSelf, "channel-0", State::Healthy, ""}));
  EXPECT_EQ(scene.world.slices.objects.at(0).devices.at(0).name, "channel-0");
}

TEST(NodeDeviceHealth, FollowsTheDaemonOnceAClaimIsPrepared) {
  NodeScene scene;
  scene.settle().show(train(1).admits("a")).prepare("a").settle();
  EXPECT_EQ(device_of(scene).state, State::Healthy) << "nobody uses it yet";
  scene.daemon_ready().settle();
  EXPECT_EQ(device_of(scene).state, State::Healthy);

  scene.daemon_dies("killed by SIGKILL");
  EXPECT_EQ(device_of(scene).state, State::Unhealthy);
  EXPECT_EQ(device_of(scene).message, "the IMEX daemon does not run: killed by SIGKILL");
  scene.advance(seconds(1)).settle();
  EXPECT_EQ(device_of(scene).message, "the IMEX daemon is not READY");
  scene.daemon_ready().settle();
  EXPECT_EQ(device_of(scene).state, State::Healthy);
}

TEST(NodeDeviceHealth, IsUnknownWhenTheSupervisorIsSilentAndThenUnhealthy) {
  NodeScene scene = serving();
  scene.world.daemon.reset();
  scene.world.supervisor_error = "connection refused";
  scene.world.supervisor_silent_since = scene.world.elapsed;
  EXPECT_EQ(device_of(scene).state, State::Unknown);
  scene.advance(seconds(1));
  EXPECT_EQ(device_of(scene).state, State::Unhealthy);
  EXPECT_THAT(device_of(scene).message, HasSubstr("connection refused"));
}

TEST(NodeDeviceHealth, IsUnknownWhileTheFabricCannotBeRead) {
  NodeScene scene;
  scene.settle();
  scene.world.fabric = {std::nullopt, "NVML does not answer"};
  EXPECT_EQ(device_of(scene).state, State::Unknown);
  EXPECT_EQ(device_of(scene).message, "the fabric cannot be read: NVML does not answer");
  EXPECT_EQ(device_of(serving()).state, State::Healthy);
}

}  // namespace
}  // namespace cdom::core
