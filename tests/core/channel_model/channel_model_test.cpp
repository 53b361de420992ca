// Model check of the shipping choice of channels: two controllers with stale caches, in any order,
// with pods deleted by force, never let containers of two domains have one channel; and at rest
// whoever can have one has one.
//
// CDOM_MODEL_STATES sets how many states to visit.
#include <gtest/gtest.h>

#include <cstdio>

#include "core/channel_model/model.h"
#include "core/state_search.h"

namespace cdom::core::channel_model {
namespace {

using testing::most_states;
using testing::Order;
using testing::seeds_for;
using testing::StateSearch;

void check(Bounds bounds, Order order, std::size_t most,
           const std::vector<std::string>& prefix = {}) {
  StateSearch<Model, State> search{Model(bounds)};
  const std::size_t seeds = seeds_for(most);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const std::string wrong = search.explore(order, seed, most / seeds, prefix);
    EXPECT_TRUE(wrong.empty()) << "seed " << seed << ": " << wrong;
  }
  std::printf("channel model: %zu distinct states, settled from %zu of them\n",
              search.distinct_states(), search.settled());
}

TEST(ChannelModel, NoTwoDomainsEverShareAChannelWhoeverDecides) {
  check({}, Order::Dive, most_states() * 3 / 4);
  check({}, Order::Spread, most_states() / 4);
}

TEST(ChannelModel, NorInLongHistories) { check({}, Order::Walk, most_states() / 4); }

// What takes many steps, from where it becomes interesting: a container has the only channel, its
// node has not told anybody yet, and its pod was deleted by force.
TEST(ChannelModel, NorWhenTheOnlyChannelGoesFromOneToTheNext) {
  const Bounds bounds{.domains = 2,
                      .nodes = 1,
                      .controllers = 1,
                      .channels = 1,
                      .claims = 1,
                      .crashes = 0,
                      .forced = 1};
  const std::vector<std::string> prefix{"user creates d1",
                                        "a pod of d1 on n1 comes",
                                        "controller 0 sees domains",
                                        "controller 0 sees claims",
                                        "controller 0 decides on the list",
                                        "controller 0: ",
                                        "n1 sees the list",
                                        "n1 reads the claim of d1",
                                        "n1 prepares the claim of d1",
                                        "the pod of d1 on n1 is deleted by force",
                                        "user deletes d1",
                                        "user creates d2",
                                        "a pod of d2 on n1 comes"};
  check(bounds, Order::Dive, most_states(), prefix);
}

// A list that is lost is made again of statuses and reports of any age.
TEST(ChannelModel, NoDomainIsReadyOverTwoChannelsAlsoWhenTheListWasLost) {
  const Bounds bounds{.domains = 1,
                      .nodes = 2,
                      .controllers = 1,
                      .channels = 2,
                      .claims = 2,
                      .crashes = 0,
                      .forced = 0,
                      .lost = 1};
  const std::vector<std::string> prefix{
      "user creates d1",          "a pod of d1 on n1 comes",          "controller 0 sees domains",
      "controller 0 sees claims", "controller 0 decides on the list", "controller 0: ",
      "n1 sees the list"};
  check(bounds, Order::Dive, most_states() / 2, prefix);
}

}  // namespace
}  // namespace cdom::core::channel_model
