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
using testing::StateSearch;

void check(Bounds bounds, std::size_t most, std::uint64_t seed,
           const std::vector<std::string>& prefix = {}) {
  StateSearch<Model, State> search(Model(bounds), seed, /*dives=*/true);
  const std::string wrong = search.explore(most, prefix);
  std::printf("channel model: %zu distinct states%s, settled from %zu of them\n", search.states(),
              search.is_exhausted() ? ", all there are" : "", search.settled());
  EXPECT_TRUE(wrong.empty()) << wrong;
}

TEST(ChannelModel, NoTwoDomainsEverShareAChannelWhoeverDecides) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) check({}, most_states() / 4, seed);
}

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
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    check(bounds, most_states() / 4, seed, prefix);
  }
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
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    check(bounds, most_states() / 8, seed, prefix);
  }
}

}  // namespace
}  // namespace cdom::core::channel_model
