// What an agent still does for which a newer process has come on the same node.
#include "core/node/node_scene.h"

namespace cdom::core {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

// The turns of the two agents over one checkpoint and one API server.
class Turns {
 public:
  explicit Turns(NodeScene& scene) : scene_(scene) { newer(); }
  NodeScene& older() { return turn("older"); }
  NodeScene& newer() {
    scene_.world.checkpoint.agent = "newer";
    return turn("newer");
  }

 private:
  NodeScene& turn(const std::string& agent) {
    scene_.world.self.agent = agent;
    scene_.history.clear();
    return scene_;
  }
  NodeScene& scene_;
};

TEST(NodeOlderAgent, TellsNothing) {
  NodeScene scene;
  Turns turns(scene);
  turns.older().settle();
  EXPECT_THAT(scene.history, IsEmpty());
  turns.newer().settle();
  scene.world.report.objects.clear();
  scene.world.slices.objects.clear();
  turns.older().settle();
  EXPECT_THAT(scene.history, IsEmpty());
}

TEST(NodeOlderAgent, LeavesTheDaemonToTheNewerAndAnswersForIt) {
  NodeScene scene;
  Turns turns(scene);
  turns.newer().settle();
  turns.older().show(train().admits("a")).prepare("a").settle();
  EXPECT_EQ(scene.starts, 0);
  EXPECT_THAT(scene.world.checkpoint.claims, testing::SizeIs(1));
  const auto asked = std::exchange(scene.world.prepares, {});

  turns.newer().settle();
  EXPECT_EQ(scene.starts, 1);
  scene.daemon_ready();
  turns.older();
  scene.world.prepares = asked;
  scene.settle();
  EXPECT_TRUE(scene.is_prepared("a"));
  EXPECT_TRUE(scene.injected.contains("a-uid"));
  EXPECT_EQ(scene.world.checkpoint.agent, "newer");
}

TEST(NodeOlderAgent, OnlyNotesThatAClaimEnds) {
  NodeScene scene = serving();
  Turns turns(scene);
  turns.older().unprepare("a").settle();
  EXPECT_EQ(scene.stops, 0);
  EXPECT_THAT(scene.unprepared, IsEmpty());
  const auto asked = std::exchange(scene.world.unprepares, {});

  turns.newer().settle();
  EXPECT_EQ(scene.stops, 1);
  EXPECT_THAT(scene.world.checkpoint.claims, IsEmpty());
  turns.older();
  scene.world.unprepares = asked;
  scene.settle();
  EXPECT_THAT(scene.unprepared, Contains("a-uid"));
}

TEST(NodeOlderAgent, EndsAClaimOfAPhaseThatOnlyTheNewerKnowsByItsOwnWord) {
  NodeScene scene = serving();
  Turns turns(scene);
  scene.world.checkpoint.later = R"({"laterField":1})";
  PreparedClaim& claim = scene.world.checkpoint.claims.at("a-uid");
  claim.later_phase = "PrepareLater";
  claim.later = R"({"laterField":2})";
  turns.older().unprepare("a").settle();
  const PreparedClaim& ending = scene.world.checkpoint.claims.at("a-uid");
  EXPECT_EQ(ending.phase, ClaimPhase::Ending);
  EXPECT_EQ(ending.later_phase, "");
  EXPECT_EQ(ending.later, R"({"laterField":2})");

  turns.newer().settle();
  EXPECT_THAT(scene.world.checkpoint.claims, IsEmpty());
  EXPECT_EQ(scene.world.checkpoint.later, R"({"laterField":1})");
}

TEST(NodeOlderAgent, KeepsTheNewersNameOverAReboot) {
  NodeScene scene = serving();
  Turns turns(scene);
  scene.world.self.boot_id = "boot-2";
  turns.older().settle();
  EXPECT_EQ(scene.world.checkpoint.agent, "newer");
  EXPECT_THAT(scene.history, Not(Contains("create ComputeDomainNode n00")));
}

}  // namespace
}  // namespace cdom::core
