#include "compute_domain/base/recent_map.h"

#include <gtest/gtest.h>

#include <string>

namespace cdom::base {
namespace {

TEST(RecentMap, ForgetsWhatWasNotUsedForLongest) {
  RecentMap<int, std::string> map(2);
  map.at_or(1, "one");
  map.at_or(2, "two");
  ASSERT_NE(map.find(1), nullptr);
  map.at_or(3, "three");
  EXPECT_EQ(map.find(2), nullptr);
  EXPECT_EQ(*map.find(1), "one");
  EXPECT_EQ(*map.find(3), "three");
}

TEST(RecentMap, KeepsTheFirstValueOfAKey) {
  RecentMap<int, std::string> map(2);
  map.at_or(1, "one");
  EXPECT_EQ(map.at_or(1, "another"), "one");
}

}  // namespace
}  // namespace cdom::base
