#include "compute_domain/api/kind.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace cdom::api {
namespace {

TEST(Kind, KnowsItsPaths) {
  const Kind& claim = kind_of<ResourceClaim>();
  EXPECT_EQ(path_of(claim, "v1", "team-a", "a", "status"),
            "/apis/resource.k8s.io/v1/namespaces/team-a/resourceclaims/a/status");
  EXPECT_EQ(path_of(claim, "v1beta1"), "/apis/resource.k8s.io/v1beta1/resourceclaims");
  EXPECT_EQ(path_of(kind_of<Pod>(), "v1", "n"), "/api/v1/namespaces/n/pods");
  EXPECT_EQ(path_of(kind_of<Node>(), "v1", "ignored", "n1"), "/api/v1/nodes/n1");
}

// The name in an owner reference is held against no rule of names.
TEST(Kind, TakesANameForOneSegmentOfThePath) {
  EXPECT_EQ(path_of(kind_of<Pod>(), "v1", "a/b", "../c?d#e f:g"),
            "/api/v1/namespaces/a%2Fb/pods/..%2Fc%3Fd%23e%20f:g");
}

TEST(Kind, KnowsItsApiVersion) {
  EXPECT_EQ(api_version_of(kind_of<Lease>(), "v1"), "coordination.k8s.io/v1");
  EXPECT_EQ(api_version_of(kind_of<Event>(), "v1"), "v1");
}

TEST(AllKinds, AreInTheOrderOfTheirPluralsAndEachIsThereOnce) {
  const auto& kinds = all_kinds();
  EXPECT_EQ(kinds.size(), 15U);
  EXPECT_TRUE(std::ranges::is_sorted(kinds, std::ranges::less{},
                                     [](const Kind* kind) { return kind->plural; }));
  const auto twice = std::ranges::adjacent_find(kinds);
  EXPECT_EQ(twice, kinds.end());
}

TEST(ObjectName, IsPrintedWithItsNamespace) {
  EXPECT_EQ(to_string(ObjectName{"team-a", "train"}), "team-a/train");
  EXPECT_EQ(to_string(ObjectName{"", "n01"}), "n01");
}

TEST(ObjectMeta, GivesNothingForALabelThatIsNotThere) {
  ObjectMeta meta;
  meta.labels = {{"a", "1"}};
  EXPECT_EQ(meta.label("a"), "1");
  EXPECT_EQ(meta.label("b"), "");
  EXPECT_EQ(meta.annotation("a"), "");
}

}  // namespace
}  // namespace cdom::api
