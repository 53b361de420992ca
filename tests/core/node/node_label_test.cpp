// The label nvidia.com/gpu.clique of a Node: written, followed and removed; somebody else's is
// left.
#include <gmock/gmock.h>

#include "compute_domain/api/names.h"
#include "compute_domain/core/reconcile.h"

namespace cdom::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A Node with that label and that mark; "" for none.
LabelWorld labelled(const std::string& label, const std::string& mark,
                    std::optional<std::string> clique) {
  LabelWorld world{.node = api::Node{}, .clique = std::move(clique)};
  world.node->meta.name = "n1";
  if (!label.empty()) world.node->meta.labels[api::kNodeCliqueLabel] = label;
  if (!mark.empty()) world.node->meta.annotations[api::kNodeCliqueMark] = mark;
  return world;
}

auto labels(const LabelWorld& world, std::optional<std::string> clique) {
  return ElementsAre(Action(LabelNode{world.node->meta, std::move(clique)}));
}

TEST(ReconcileLabel, WritesTheCliqueThatTheSlicePublishes) {
  const LabelWorld world = labelled("", "", "u.1");
  EXPECT_THAT(reconcile_label(world).actions, labels(world, "u.1"));
  EXPECT_THAT(reconcile_label(labelled("u.1", "u.1", "u.1")).actions, IsEmpty());
}

TEST(ReconcileLabel, FollowsTheClique) {
  const LabelWorld world = labelled("u.1", "u.1", "u.2");
  EXPECT_THAT(reconcile_label(world).actions, labels(world, "u.2"));
}

TEST(ReconcileLabel, RemovesTheLabelWithTheCliqueOrTheSlice) {
  for (const auto& gone : {std::optional<std::string>(""), std::optional<std::string>()}) {
    const LabelWorld world = labelled("u.1", "u.1", gone);
    EXPECT_THAT(reconcile_label(world).actions, labels(world, std::nullopt));
    EXPECT_THAT(reconcile_label(labelled("", "", gone)).actions, IsEmpty());
  }
}

TEST(ReconcileLabel, TakesNoCliqueThatNoLabelCanHave) {
  for (const std::string& clique : {std::string("a clique"), std::string(64, 'u')}) {
    EXPECT_THAT(reconcile_label(labelled("", "", clique)).actions, IsEmpty());
    const LabelWorld world = labelled("u.1", "u.1", clique);
    EXPECT_THAT(reconcile_label(world).actions, labels(world, std::nullopt));
  }
}

TEST(ReconcileLabel, LeavesALabelThatSomebodyElseHasWritten) {
  EXPECT_THAT(reconcile_label(labelled("u.1", "", "u.1")).actions, IsEmpty());
  EXPECT_THAT(reconcile_label(labelled("u.1", "", "u.2")).actions, IsEmpty());
  EXPECT_THAT(reconcile_label(labelled("u.1", "", "")).actions, IsEmpty());
  LabelWorld world = labelled("", "", "u.1");
  world.node->meta.labels[api::kNodeCliqueLabel] = "";
  EXPECT_THAT(reconcile_label(world).actions, IsEmpty());
}

TEST(ReconcileLabel, GivesUpALabelThatSomebodyElseHasOverwritten) {
  const LabelWorld world = labelled("theirs", "u.1", "u.1");
  EXPECT_THAT(reconcile_label(world).actions, ElementsAre(Action(UnmarkNode{world.node->meta})));
}

TEST(ReconcileLabel, WritesAgainWhatSomebodyHasRemoved) {
  const LabelWorld world = labelled("", "u.1", "u.1");
  EXPECT_THAT(reconcile_label(world).actions, labels(world, "u.1"));
  const LabelWorld gone = labelled("", "u.1", "");
  EXPECT_THAT(reconcile_label(gone).actions, labels(gone, std::nullopt));
}

TEST(ReconcileLabel, LeavesANodeThatGoes) {
  LabelWorld world = labelled("", "", "u.1");
  world.node->meta.deletion_time = base::Time{};
  EXPECT_THAT(reconcile_label(world).actions, IsEmpty());
  world.node.reset();
  EXPECT_THAT(reconcile_label(world).actions, IsEmpty());
}

}  // namespace
}  // namespace cdom::core
