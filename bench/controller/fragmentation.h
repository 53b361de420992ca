// Fragmentation: domains come and go on the cliques of a large cluster, and each gets its seats by
// one of several rules. What stays free is compared.
#pragma once

#include <cstdint>
#include <vector>

namespace cdom::bench {

enum class Rule {
  BestFit,    // core::place
  MostFree,   // one clique, the one with the most free seats
  Scattered,  // any free seats, whatever their clique: pods spread without a placement
};

struct Fragmentation {
  std::vector<double> used;                   // share of all seats, %, at each arrival
  std::vector<double> whole_cliques;          // with 16 free seats and more
  std::int64_t large = 0, refused_large = 0;  // domains of 16 seats and more
  std::int64_t arrivals = 0, refused = 0;
  std::int64_t split = 0;  // domains whose seats are in several cliques
};

// 278 cliques of 8, 16 and 18 seats; `load`: what all that come would take of all seats, if nobody
// was refused. The same seed brings the same domains to every rule.
Fragmentation simulate(Rule rule, double load, std::uint64_t seed);

}  // namespace cdom::bench
