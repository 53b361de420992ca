// Model check of the shipping core: every safety law in every state that is reached, and from
// states all over the space the goal, with users and faults at rest.
//
// The space is explored depth first in a seeded random order, anew from each of several seeds, so
// that long histories are reached as well as short ones; states are counted once over all seeds.
// CDOM_MODEL_STATES sets how many distinct states to visit.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "compute_domain/base/random.h"
#include "compute_domain/base/text.h"
#include "core/model/model.h"

namespace cdom::core::model {
namespace {

std::size_t states_to_visit() {
  const char* wanted = std::getenv("CDOM_MODEL_STATES");  // NOLINT(concurrency-mt-unsafe)
  return wanted == nullptr ? 50'000 : std::stoul(wanted);
}

// 128 bits: two states of a few millions that share them by chance are out of the question.
using Fingerprint = std::pair<std::uint64_t, std::uint64_t>;

Fingerprint fingerprint_of(const State& state) {
  return {base::fnv1a64(bytes_of(state)), std::hash<std::string_view>{}(bytes_of(state))};
}

class Search {
 public:
  explicit Search(Bounds bounds) : model_(bounds) {}

  // Visits up to `most` new states; "" when every law holds, else the story of a violation.
  std::string explore(std::uint64_t seed, std::size_t most) {
    base::Random random(seed);
    std::vector<Frame> path;
    std::size_t fresh = 0;
    seen_from_this_seed_.clear();
    enter(Model::initial(), "start", path, random);
    while (!path.empty() && fresh < most) {
      if (path.back().next.empty()) {
        path.pop_back();
        continue;
      }
      Transition step = std::move(path.back().next.back());
      path.back().next.pop_back();
      if (std::string wrong = model_.violation(step.after); !wrong.empty()) {
        return story(path, step, wrong);
      }
      const Fingerprint fingerprint = fingerprint_of(step.after);
      if (!seen_from_this_seed_.insert(fingerprint).second) continue;
      visited_.insert(fingerprint);
      ++fresh;
      if (fresh % kSettleEvery == 0) {
        if (std::string wrong = settle(step.after, random); !wrong.empty()) {
          return story(path, step, wrong);
        }
      }
      if (path.size() < kDeepest) enter(step.after, step.name, path, random);
    }
    return {};
  }

  [[nodiscard]] std::size_t distinct_states() const { return visited_.size(); }
  [[nodiscard]] std::size_t settled() const { return settled_; }

 private:
  static constexpr std::size_t kDeepest = 120;
  static constexpr std::size_t kSettleEvery = 40;
  static constexpr int kMostFairSteps = 2'000;

  struct Frame {
    State state;
    std::string name;
    std::vector<Transition> next;
  };

  void enter(const State& state, const std::string& name, std::vector<Frame>& path,
             base::Random& random) {
    std::vector<Transition> next = model_.transitions(state);
    for (std::size_t i = next.size(); i > 1; --i) std::swap(next[i - 1], next[random.below(i)]);
    path.push_back({state, name, std::move(next)});
  }

  // With users and faults at rest, whatever order things happen in, the goal is reached.
  std::string settle(State state, base::Random& random) {
    std::string history;
    for (int step = 0; step < kMostFairSteps; ++step) {
      std::vector<Transition> next = model_.fair_transitions(state);
      if (next.empty()) {
        ++settled_;
        const std::string wrong = model_.unsettled(state);
        return wrong.empty() ? ""
                             : base::cat("settles: ", wrong, history, "\n", model_.describe(state));
      }
      Transition& taken = next[random.below(next.size())];
      history += base::cat("\n    then ", taken.name);
      state = taken.after;
      if (std::string wrong = model_.violation(state); !wrong.empty()) {
        return base::cat(wrong, history, "\n", model_.describe(state));
      }
    }
    return base::cat("settles: does not come to rest", history.substr(history.size() - 2'000));
  }

  std::string story(const std::vector<Frame>& path, const Transition& last,
                    const std::string& wrong) {
    std::string text = wrong;
    for (const Frame& frame : path) text += base::cat("\n  ", frame.name);
    return base::cat(text, "\n  ", last.name, "\n", model_.describe(last.after));
  }

  Model model_;
  std::set<Fingerprint> visited_, seen_from_this_seed_;
  std::size_t settled_ = 0;
};

TEST(Model, KeepsEveryLawInEveryStateAndSettlesFromAnywhere) {
  const std::size_t wanted = states_to_visit();
  Search search({});
  // As many seeds as it takes: late ones reach ever more states that earlier ones have seen.
  constexpr std::uint64_t kMostSeeds = 200;
  for (std::uint64_t seed = 1; seed <= kMostSeeds && search.distinct_states() < wanted; ++seed) {
    const std::string wrong = search.explore(seed, wanted / 20 + 1);
    ASSERT_TRUE(wrong.empty()) << "seed " << seed << ": " << wrong;
  }
  std::printf("model: %zu distinct states, settled from %zu of them\n", search.distinct_states(),
              search.settled());
  EXPECT_GE(search.distinct_states(), wanted);
}

}  // namespace
}  // namespace cdom::core::model
