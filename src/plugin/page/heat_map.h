// HeatMap: a matrix of reach as few rectangles, so that also one of hundreds of nodes can be drawn.
// Pure.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "compute_domain/plugin/matrix.h"

namespace cdom::plugin::page {

// Columns x to x + width - 1 of rows y to y + height - 1, all with this reach.
struct HeatRect {
  std::size_t x = 0, y = 0, width = 0, height = 0;
  Reach reach = Reach::Connected;

  friend bool operator==(const HeatRect&, const HeatRect&) = default;
};

struct HeatMap {
  std::size_t nodes = 0;
  // Nodes that one row or column stands for; more than 1 when there would be too many rectangles.
  // Such a cell shows the worst that is in it.
  std::size_t scale = 1;
  std::size_t cells = 0;        // rows and columns: nodes / scale, rounded up
  std::vector<HeatRect> rects;  // in cells; what no rectangle covers is connected, or the same node
  // Ordered pairs of two nodes, by reach.
  std::array<std::size_t, 5> pairs{};

  [[nodiscard]] std::size_t count(Reach reach) const {
    return pairs.at(static_cast<std::size_t>(reach));
  }
};

// With at most `most` rectangles, at least 1.
HeatMap heat_map(const ReachGroup& group, std::size_t most);

}  // namespace cdom::plugin::page
