// Figure: one measured number with its spread, its target, and whether it is met.
//
// A bench program prints its figures with print(), a line each; tools/bench makes the table.
#pragma once

#include <string>
#include <vector>

namespace cdom::bench {

// "p50" (also p99, min, max) of the samples may be at most `limit`, or has to be at least that.
struct Bound {
  enum class Side { AtMost, AtLeast };
  std::string statistic;
  double limit = 0;
  Side side = Side::AtMost;
};

struct Figure {
  std::string name;
  std::string unit;
  std::vector<double> samples;
  std::vector<Bound> bounds;  // empty: the figure is only told
  std::string note;           // how it was measured, where that is not plain
};

// The value below which `share` (0 to 1) of the samples lie; nearest rank.
double quantile(std::vector<double> samples, double share);

// One line of fields between tabs: name, unit, n, p50, p99, min, max, target, verdict, note.
// Whether all bounds hold.
bool print(const Figure& figure);

}  // namespace cdom::bench
