#include "plugin/page/heat_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cdom::plugin::page {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum Reach;

ReachGroup group_of(std::size_t nodes) {
  ReachGroup group;
  for (std::size_t i = 0; i < nodes; ++i) {
    group.nodes.push_back("n" + std::to_string(i));
    group.cells.emplace_back(nodes, Connected)[i] = Self;
  }
  return group;
}

void fill_row(ReachGroup& group, std::size_t row, Reach reach) {
  for (std::size_t j = 0; j < group.nodes.size(); ++j) {
    if (j != row) group.cells[row][j] = reach;
  }
}

// What the rectangles of a map show of a cell.
Reach shown(const HeatMap& map, std::size_t y, std::size_t x) {
  for (const HeatRect& rect : map.rects) {
    if (y >= rect.y && y < rect.y + rect.height && x >= rect.x && x < rect.x + rect.width) {
      return rect.reach;
    }
  }
  return Connected;
}

TEST(HeatMap, NeedsNoRectangleWhereAllAreConnected) {
  const HeatMap map = heat_map(group_of(576), 100);
  EXPECT_THAT(map.rects, IsEmpty());
  EXPECT_EQ(map.count(Connected), 576U * 575U);
  EXPECT_EQ(map.scale, 1U);
}

TEST(HeatMap, DrawsARowAsOneRectangleAlsoOverTheNodeItself) {
  ReachGroup group = group_of(9);
  fill_row(group, 4, NotReady);
  EXPECT_THAT(heat_map(group, 100).rects, ElementsAre(HeatRect{0, 4, 9, 1, NotReady}));
}

TEST(HeatMap, DrawsAColumnAsOneRectangleAboveAndOneBelowTheNodeItself) {
  ReachGroup group = group_of(9);
  for (std::size_t i = 0; i < 9; ++i) {
    if (i != 4) group.cells[i][4] = Unreachable;
  }
  EXPECT_THAT(heat_map(group, 100).rects,
              ElementsAre(HeatRect{4, 0, 1, 4, Unreachable}, HeatRect{4, 5, 1, 4, Unreachable}));
}

TEST(HeatMap, ShowsEachPairAsItIs) {
  // By a fixed rule without a pattern that would help the rectangles.
  ReachGroup group = group_of(40);
  std::uint32_t state = 12345;
  for (std::size_t i = 0; i < 40; ++i) {
    for (std::size_t j = 0; j < 40; ++j) {
      state = state * 1664525U + 1013904223U;
      if (i != j && state >> 30U != 0) {
        group.cells[i][j] = std::array{Unreachable, NotReported, NotReady}.at((state >> 28U) % 3);
      }
    }
  }
  const HeatMap map = heat_map(group, 10'000);
  ASSERT_EQ(map.scale, 1U);
  for (std::size_t i = 0; i < 40; ++i) {
    for (std::size_t j = 0; j < 40; ++j) {
      if (i == j) continue;
      EXPECT_EQ(shown(map, i, j), group.cells[i][j]) << i << " " << j;
    }
  }
}

TEST(HeatMap, ShowsTheWorstOfSeveralWhereThereWouldBeTooManyRectangles) {
  ReachGroup group = group_of(576);
  for (std::size_t i = 0; i < 576; ++i) {
    for (std::size_t j = i % 2; j < 576; j += 2) {
      if (i != j) group.cells[i][j] = NotReported;
    }
  }
  group.cells[575][0] = Unreachable;
  const HeatMap map = heat_map(group, 4000);
  EXPECT_LE(map.rects.size(), 4000U);
  EXPECT_GT(map.scale, 1U);
  EXPECT_EQ(shown(map, map.cells - 1, 0), Unreachable);
  EXPECT_EQ(shown(map, 0, map.cells - 1), NotReported);
  EXPECT_EQ(map.count(Unreachable), 1U);
}

TEST(HeatMap, IsNothingOfNoNodes) {
  const HeatMap map = heat_map(group_of(0), 10);
  EXPECT_EQ(map.cells, 0U);
  EXPECT_THAT(map.rects, IsEmpty());
}

}  // namespace
}  // namespace cdom::plugin::page
