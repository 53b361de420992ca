#include "plugin/page/heat_map.h"

#include <algorithm>

namespace cdom::plugin::page {

namespace {

using Row = std::vector<Reach>;

// A cell stands for several pairs: it shows the one that weighs most.
int weight_of(Reach reach) {
  switch (reach) {
    case Reach::Unreachable:
      return 4;
    case Reach::NotReady:
      return 3;
    case Reach::NotReported:
      return 2;
    case Reach::Connected:
      return 1;
    case Reach::Self:
      return 0;
  }
  return 0;
}

Row row_at(const ReachGroup& group, std::size_t y, std::size_t scale, std::size_t cells) {
  Row row(cells, Reach::Self);
  const std::size_t end = std::min((y + 1) * scale, group.cells.size());
  for (std::size_t i = y * scale; i < end; ++i) {
    for (std::size_t j = 0; j < group.cells[i].size(); ++j) {
      Reach& cell = row[j / scale];
      if (weight_of(group.cells[i][j]) > weight_of(cell)) cell = group.cells[i][j];
    }
  }
  // A node and itself: drawn on top, so it goes with what is on both sides of it.
  for (std::size_t x = 0; x < cells; ++x) {
    if (row[x] != Reach::Self) continue;
    const Reach right = x + 1 < cells ? row[x + 1] : x > 0 ? row[x - 1] : Reach::Connected;
    const Reach left = x > 0 ? row[x - 1] : right;
    row[x] = left == right ? left : Reach::Connected;
  }
  return row;
}

std::vector<HeatRect> runs_of(const Row& row, std::size_t y) {
  std::vector<HeatRect> runs;
  for (std::size_t x = 0; x < row.size();) {
    std::size_t end = x + 1;
    while (end < row.size() && row[end] == row[x]) ++end;
    if (row[x] != Reach::Connected) runs.push_back({x, y, end - x, 1, row[x]});
    x = end;
  }
  return runs;
}

// Runs of a row that go on where one of the row above ends make that one higher. False: there are
// more than `most`.
bool add_rects(const ReachGroup& group, std::size_t most, HeatMap& map) {
  map.rects.clear();
  std::vector<std::size_t> open;  // rectangles that reach down to the row above, from the left
  for (std::size_t y = 0; y < map.cells; ++y) {
    std::vector<std::size_t> now;
    std::size_t at = 0;
    for (const HeatRect& run : runs_of(row_at(group, y, map.scale, map.cells), y)) {
      while (at < open.size() && map.rects[open[at]].x < run.x) ++at;
      const bool goes_on = at < open.size() && map.rects[open[at]].x == run.x &&
                           map.rects[open[at]].width == run.width &&
                           map.rects[open[at]].reach == run.reach;
      if (goes_on) {
        ++map.rects[open[at]].height;
        now.push_back(open[at]);
        continue;
      }
      if (map.rects.size() == most) return false;
      now.push_back(map.rects.size());
      map.rects.push_back(run);
    }
    open = std::move(now);
  }
  return true;
}

}  // namespace

HeatMap heat_map(const ReachGroup& group, std::size_t most) {
  HeatMap map;
  map.nodes = group.nodes.size();
  for (const Row& row : group.cells) {
    for (const Reach reach : row) ++map.pairs.at(static_cast<std::size_t>(reach));
  }
  for (map.scale = 1;; map.scale *= 2) {
    map.cells = (map.nodes + map.scale - 1) / map.scale;
    if (add_rects(group, std::max<std::size_t>(most, 1), map)) return map;
  }
}

}  // namespace cdom::plugin::page
