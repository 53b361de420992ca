// A claim that pods on several nodes of a clique share, as one of these nodes sees it.
#include "compute_domain/core/device_health.h"
#include "core/node/node_scene.h"

namespace cdom::core {
namespace {

using testing::Contains;
using testing::HasSubstr;

api::ResourceClaim shared_claim(const std::string& name, const std::string& clique) {
  api::ResourceClaim claim = claim_object(name);
  claim.allocation->node = "";
  claim.allocation->devices.front().pool = api::kSharedPoolPrefix + clique;
  claim.allocation->devices.front().device = "shared-3";
  return claim;
}

TEST(NodeSharedClaim, IsPreparedWithTheDeviceOfItsClique) {
  NodeScene scene;
  scene.claim(shared_claim("a", kClique)).settle().show(train(2).admits("a"));
  scene.prepare("a").settle().daemon_ready().settle();
  ASSERT_TRUE(scene.is_prepared("a"));
  EXPECT_EQ(scene.prepared["a-uid"].devices.at(0).ref,
            (DeviceRef{"channel", std::string("clique/") + kClique, "shared-3"}));
  EXPECT_TRUE(scene.injected.contains("a-uid"));
}

TEST(NodeSharedClaim, OfAnotherCliqueWaitsAndSaysWhatToDo) {
  NodeScene scene;
  scene.claim(shared_claim("a", "rack-2.1")).settle().prepare("a").settle();
  EXPECT_THAT(scene.reason("a"),
              HasSubstr("is shared in clique rack-2.1, and this node is of clique rack-1.7"));
  EXPECT_THAT(scene.reason("a"), HasSubstr("nvidia.com/gpu.clique"));
}

TEST(NodeSharedClaim, HasEndedHereOnlyWhenItIsAllocatedNoMore) {
  ClaimReading reading;
  reading.claim = shared_claim("a", "rack-2.1");
  EXPECT_FALSE(has_ended_here(reading, claim_ref("a"), kSelf));
  reading.claim->allocation.reset();
  EXPECT_TRUE(has_ended_here(reading, claim_ref("a"), kSelf));
}

TEST(NodeSharedClaim, HasTheHealthOfTheDaemonThatServesIt) {
  NodeScene scene;
  scene.claim(shared_claim("a", kClique)).settle().show(train(1).admits("a"));
  scene.prepare("a").settle().daemon_ready().settle();
  const std::string pool = std::string("clique/") + kClique;
  const auto health = [&](DeviceHealth::State state, const std::string& message) {
    return DeviceHealth{pool, "shared-3", state, message};
  };
  EXPECT_THAT(device_health(scene.world), Contains(health(DeviceHealth::State::Healthy, "")));
  scene.daemon_dies("killed by SIGKILL");
  EXPECT_THAT(device_health(scene.world),
              Contains(health(DeviceHealth::State::Unhealthy,
                              "the IMEX daemon does not run: killed by SIGKILL")));
}

}  // namespace
}  // namespace cdom::core
