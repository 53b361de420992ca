// Model check of the shipping core: every safety law in every state that is reached, and from
// states all over the space the goal, with users and faults at rest.
//
// CDOM_MODEL_STATES sets how many distinct states to visit.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "core/model/model.h"
#include "core/state_search.h"

namespace cdom::core::model {
namespace {

using testing::most_states;
using testing::Order;
using testing::StateSearch;

void check(Bounds bounds, Order order, std::size_t wanted) {
  StateSearch<Model, State> search{Model(bounds)};
  // As many seeds as it takes: late ones reach ever more states that earlier ones have seen.
  constexpr std::uint64_t kMostSeeds = 200;
  for (std::uint64_t seed = 1; seed <= kMostSeeds && search.distinct_states() < wanted; ++seed) {
    const std::string wrong = search.explore(order, seed, wanted / 20 + 1);
    ASSERT_TRUE(wrong.empty()) << "seed " << seed << ": " << wrong;
  }
  std::printf("model: %zu distinct states, settled from %zu of them\n", search.distinct_states(),
              search.settled());
  EXPECT_GE(search.distinct_states(), wanted);
}

TEST(Model, KeepsEveryLawInEveryStateAndSettlesFromAnywhere) {
  check({}, Order::Dive, most_states());
}

TEST(Model, KeepsThemInLongHistoriesToo) { check({}, Order::Walk, most_states() / 10); }

TEST(Model, KeepsThemWithTheShippingAgent) {
  check({.shipping_agent = true}, Order::Walk, most_states() * 2 / 5);
}

}  // namespace
}  // namespace cdom::core::model
