// Model check of the shipping placement: two controllers with stale caches, in any order, never
// promise or make templates for more seats than a clique has; and at rest everybody has what he was
// promised.
//
// CDOM_MODEL_STATES sets how many states to visit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "compute_domain/base/random.h"
#include "compute_domain/base/text.h"
#include "core/placement_model/model.h"

namespace cdom::core::placement_model {
namespace {

constexpr std::size_t kSettleEvery = 50;
constexpr int kMostFairSteps = 500;

std::size_t most_states() {
  const char* wanted = std::getenv("CDOM_MODEL_STATES");  // NOLINT(concurrency-mt-unsafe)
  return wanted == nullptr ? 100'000 : std::stoul(wanted);
}

// All states are kept, each with the one that it was reached from.
struct Visited {
  State state;
  std::size_t from = 0;
  std::string step;
};

class Search {
 public:
  Search(Bounds bounds, std::uint64_t seed) : model_(bounds), random_(seed) {}

  // "" when every law holds in all states that were visited, at most `most`.
  std::string explore(std::size_t most) {
    visit({}, 0, "start");
    while (!frontier_.empty() && visited_.size() < most) {
      std::swap(frontier_[random_.below(frontier_.size())], frontier_.back());
      const std::size_t at = frontier_.back();
      frontier_.pop_back();
      for (Transition& step : model_.transitions(visited_[at].state)) {
        if (!visit(step.after, at, std::move(step.name))) continue;
        const State& state = visited_.back().state;
        if (const std::string wrong = model_.violation(state); !wrong.empty()) return story(wrong);
        if (visited_.size() % kSettleEvery != 0) continue;
        if (const std::string wrong = settle(state); !wrong.empty()) return story(wrong);
      }
    }
    return {};
  }
  [[nodiscard]] std::size_t states() const { return visited_.size(); }
  [[nodiscard]] std::size_t settled() const { return settled_; }
  // Every state that can be reached was.
  [[nodiscard]] bool is_exhausted() const { return frontier_.empty(); }

 private:
  bool visit(const State& state, std::size_t from, std::string step) {
    if (!known_.insert(fingerprint(state)).second) return false;
    visited_.push_back({state, from, std::move(step)});
    frontier_.push_back(visited_.size() - 1);
    return true;
  }
  static std::pair<std::uint64_t, std::uint64_t> fingerprint(const State& state) {
    return {base::fnv1a64(bytes_of(state)), std::hash<std::string_view>{}(bytes_of(state))};
  }

  std::string settle(State state) {
    std::string history;
    for (int i = 0; i < kMostFairSteps; ++i) {
      std::vector<Transition> next = model_.fair_transitions(state);
      if (next.empty()) {
        ++settled_;
        const std::string wrong = model_.unsettled(state);
        return wrong.empty() ? "" : base::cat(wrong, history, "\n", model_.describe(state));
      }
      Transition& taken = next[random_.below(next.size())];
      history += base::cat("\n    then ", taken.name);
      state = taken.after;
      if (const std::string wrong = model_.violation(state); !wrong.empty()) {
        return base::cat(wrong, history, "\n", model_.describe(state));
      }
    }
    return base::cat("does not come to rest", history.substr(history.size() - 2'000));
  }

  [[nodiscard]] std::string story(const std::string& wrong) const {
    std::vector<std::string> steps;
    for (std::size_t at = visited_.size() - 1; at != 0; at = visited_[at].from) {
      steps.push_back(visited_[at].step);
    }
    std::ranges::reverse(steps);
    return base::cat(wrong, "\n  ", base::join(steps, "\n  "), "\n",
                     model_.describe(visited_.back().state));
  }

  Model model_;
  base::Random random_;
  std::vector<Visited> visited_;
  std::vector<std::size_t> frontier_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> known_;
  std::size_t settled_ = 0;
};

void check(Bounds bounds, std::size_t most, std::uint64_t seed) {
  Search search(bounds, seed);
  const std::string wrong = search.explore(most);
  std::printf("placement model: %zu distinct states%s, settled from %zu of them\n", search.states(),
              search.is_exhausted() ? ", all there are" : "", search.settled());
  EXPECT_TRUE(wrong.empty()) << wrong;
}

TEST(PlacementModel, NeverPromisesMoreThanACliqueHasWhoeverDecides) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) check({}, most_states() / 4, seed);
}

TEST(PlacementModel, NorWithoutFaults) {
  check({.domains = 2, .faults = 0, .crashes = 0, .deletes = false}, most_states(), 1);
}

}  // namespace
}  // namespace cdom::core::placement_model
