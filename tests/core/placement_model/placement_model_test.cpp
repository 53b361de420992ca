// Model check of the shipping placement: two controllers with stale caches, in any order, never
// reservation or make templates for more seats than a clique has; and at rest everybody has what he
// was reserved.
//
// CDOM_MODEL_STATES sets how many states to visit.
#include <gtest/gtest.h>

#include <cstdio>

#include "core/placement_model/model.h"
#include "core/state_search.h"

namespace cdom::core::placement_model {
namespace {

using testing::most_states;
using testing::Order;
using testing::seeds_for;
using testing::StateSearch;

void check(Bounds bounds, Order order, std::size_t most) {
  StateSearch<Model, State> search{Model(bounds)};
  const std::size_t seeds = seeds_for(most);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const std::string wrong = search.explore(order, seed, most / seeds);
    EXPECT_TRUE(wrong.empty()) << "seed " << seed << ": " << wrong;
  }
  std::printf("placement model: %zu distinct states, settled from %zu of them\n",
              search.distinct_states(), search.settled());
}

TEST(PlacementModel, NeverReservesMoreThanACliqueHasWhoeverDecides) {
  check({}, Order::Spread, most_states() / 2);
  check({}, Order::Dive, most_states() / 2);
}

TEST(PlacementModel, NorInLongHistories) { check({}, Order::Walk, most_states() / 4); }

TEST(PlacementModel, NorWithoutFaults) {
  check({.domains = 2, .faults = 0, .crashes = 0, .deletes = false}, Order::Spread, most_states());
}

}  // namespace
}  // namespace cdom::core::placement_model
