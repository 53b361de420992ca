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
using testing::StateSearch;

void check(Bounds bounds, std::size_t most, std::uint64_t seed) {
  StateSearch<Model, State> search(Model(bounds), seed);
  const std::string wrong = search.explore(most);
  std::printf("placement model: %zu distinct states%s, settled from %zu of them\n", search.states(),
              search.is_exhausted() ? ", all there are" : "", search.settled());
  EXPECT_TRUE(wrong.empty()) << wrong;
}

TEST(PlacementModel, NeverReservesMoreThanACliqueHasWhoeverDecides) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) check({}, most_states() / 4, seed);
}

TEST(PlacementModel, NorWithoutFaults) {
  check({.domains = 2, .faults = 0, .crashes = 0, .deletes = false}, most_states(), 1);
}

}  // namespace
}  // namespace cdom::core::placement_model
