// A crash between any two intents: a fresh agent reaches the same end.
#include "core/node/node_scene.h"

namespace cdom::core {
namespace {

// Does everything that a node has to do until nothing is left, with the agent crashing after its
// `crash_after`th intent; kubelet asks again what it had no answer to.
void run(NodeScene& scene, const std::string& claim, int crash_after) {
  int applied = 0;
  for (int round = 0; round < 60; ++round) {
    const NodePlan plan = scene.plan();
    if (NodeScene::is_empty(plan)) {
      if (!scene.world.daemon->running || scene.world.daemon->answers) return;
      scene.daemon_ready();
      continue;
    }
    const bool crashes = !NodeScene::apply_each(plan, [&](const auto& intent) {
      scene.apply(intent);
      return ++applied != crash_after;
    });
    if (crashes) scene.advance(seconds(1)).restart_agent();
  }
  FAIL() << "does not settle for " << claim << ": " << testing::PrintToString(scene.history);
}

void expect_same_end(const NodeScene& scene, const NodeScene& straight) {
  EXPECT_EQ(scene.world.checkpoint, straight.world.checkpoint);
  EXPECT_EQ(scene.injected, straight.injected);
  EXPECT_EQ(scene.world.daemon->running, straight.world.daemon->running);
  EXPECT_EQ(scene.hosts, straight.hosts);
  EXPECT_EQ(scene.prepared, straight.prepared);
  EXPECT_EQ(scene.unprepared, straight.unprepared);
  ASSERT_EQ(scene.report().groups.size(), 1U);
  EXPECT_EQ(scene.group()->state, straight.group()->state);
  EXPECT_EQ(scene.group()->claims, straight.group()->claims);
  EXPECT_EQ(scene.starts, straight.starts);
}

TEST(NodeCrash, AnywhereInAPrepareEndsTheSame) {
  const auto start = [] {
    NodeScene scene;
    scene.settle().show(train().admits("a")).prepare("a");
    scene.history.clear();
    return scene;
  };
  NodeScene straight = start();
  run(straight, "a", 0);
  ASSERT_TRUE(straight.is_prepared("a"));
  ASSERT_GE(straight.history.size(), 7U);

  for (int crash = 1; crash <= std::ssize(straight.history); ++crash) {
    SCOPED_TRACE(crash);
    NodeScene scene = start();
    run(scene, "a", crash);
    expect_same_end(scene, straight);
  }
}

TEST(NodeCrash, AnywhereInAnUnprepareEndsTheSame) {
  const auto start = [] {
    NodeScene scene = serving();
    scene.unprepare("a");
    scene.history.clear();
    return scene;
  };
  NodeScene straight = start();
  run(straight, "a", 0);
  ASSERT_TRUE(straight.unprepared.contains("a-uid"));
  ASSERT_GE(straight.history.size(), 5U);

  for (int crash = 1; crash <= std::ssize(straight.history); ++crash) {
    SCOPED_TRACE(crash);
    NodeScene scene = start();
    run(scene, "a", crash);
    expect_same_end(scene, straight);
  }
}

// Also when kubelet does not ask again: what has begun to end goes on by itself.
TEST(NodeCrash, InAnUnprepareLeavesAClaimThatGoesOnEnding) {
  NodeScene scene = serving();
  scene.unprepare("a");
  scene.apply(scene.plan().on_node.at(0));
  scene.restart_agent().world.unprepares.clear();
  scene.settle();
  EXPECT_EQ(scene.stops, 1);
  EXPECT_TRUE(scene.world.checkpoint.claims.empty());
}

TEST(NodeCrash, OfANodeInAnOrderOfInputsThatDiffersGivesTheSamePlan) {
  NodeScene scene = serving();
  scene.show(ListBuilder("other-uid", 2)).show(ListBuilder("third-uid", 2).admits("b"));
  scene.world.daemon->hosts_revision = "";
  NodeScene turned = scene;
  std::ranges::reverse(turned.world.lists);
  EXPECT_EQ(scene.plan(), turned.plan());
}

}  // namespace
}  // namespace cdom::core
