// Model check of the shipping core: every safety law in every state that is reached, and from
// states all over the space the goal, with users and faults at rest.
//
// CDOM_MODEL_STATES sets how many distinct states to visit.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/model/search.h"

namespace cdom::core::model {
namespace {

std::size_t states_to_visit() {
  const char* wanted = std::getenv("CDOM_MODEL_STATES");  // NOLINT(concurrency-mt-unsafe)
  return wanted == nullptr ? 50'000 : std::stoul(wanted);
}

using Visit = std::string (Search::*)(std::uint64_t seed, std::size_t most);

void check(Bounds bounds, Visit visit, std::size_t wanted) {
  Search search(bounds);
  // As many seeds as it takes: late ones reach ever more states that earlier ones have seen.
  constexpr std::uint64_t kMostSeeds = 200;
  for (std::uint64_t seed = 1; seed <= kMostSeeds && search.distinct_states() < wanted; ++seed) {
    const std::string wrong = (search.*visit)(seed, wanted / 20 + 1);
    ASSERT_TRUE(wrong.empty()) << "seed " << seed << ": " << wrong;
  }
  std::printf("model: %zu distinct states, settled from %zu of them\n", search.distinct_states(),
              search.settled());
  EXPECT_GE(search.distinct_states(), wanted);
}

TEST(Model, KeepsEveryLawInEveryStateAndSettlesFromAnywhere) {
  check({}, &Search::explore, states_to_visit());
}

TEST(Model, KeepsThemInLongHistoriesToo) { check({}, &Search::walk, states_to_visit() / 10); }

TEST(Model, KeepsThemWithTheShippingAgent) {
  check({.shipping_agent = true}, &Search::walk, states_to_visit() * 2 / 5);
}

}  // namespace
}  // namespace cdom::core::model
