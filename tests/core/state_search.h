// StateSearch: visits the states of a small world in a seeded order, holds each against the model's
// laws, and lets some of them come to rest, where others must hold.
//
// A Model has transitions(), fair_transitions(), violation(), unsettled() and describe(); a State
// is compared as its bytes_of().
#pragma once

#include <algorithm>
#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compute_domain/base/random.h"
#include "compute_domain/base/text.h"

namespace cdom::core::testing {

// How many, by CDOM_MODEL_STATES.
inline std::size_t most_states() {
  const char* wanted = std::getenv("CDOM_MODEL_STATES");  // NOLINT(concurrency-mt-unsafe)
  return wanted == nullptr ? 100'000 : std::stoul(wanted);
}

template <class Model, class State>
class StateSearch {
 public:
  // `dives`: mostly goes on from the states that it has found last, which leads further away from
  // the first.
  StateSearch(Model model, std::uint64_t seed, bool dives = false)
      : model_(std::move(model)), random_(seed), dives_(dives) {}

  // From the first state, or from where steps lead whose names begin so.
  // "" when every law holds in all states that were visited, at most `most`.
  std::string explore(std::size_t most, const std::vector<std::string>& prefix = {}) {
    visit(led_by(prefix), 0, "start");
    while (!frontier_.empty() && visited_.size() < most) {
      std::swap(frontier_[next()], frontier_.back());
      const std::size_t at = frontier_.back();
      frontier_.pop_back();
      for (auto& step : model_.transitions(visited_[at].state)) {
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
  static constexpr std::size_t kSettleEvery = 50;
  static constexpr int kMostFairSteps = 500;

  // All states are kept, each with the one that it was reached from.
  struct Visited {
    State state;
    std::size_t from = 0;
    std::string step;
  };

  bool visit(const State& state, std::size_t from, std::string step) {
    if (!known_.insert(fingerprint(state)).second) return false;
    visited_.push_back({state, from, std::move(step)});
    frontier_.push_back(visited_.size() - 1);
    return true;
  }
  State led_by(const std::vector<std::string>& prefix) {
    State state{};
    for (const std::string& name : prefix) {
      auto steps = model_.transitions(state);
      const auto it = std::ranges::find_if(
          steps, [&](const auto& step) { return step.name.starts_with(name); });
      if (it == steps.end()) throw std::runtime_error(base::cat("no step \"", name, "\""));
      state = it->after;
    }
    return state;
  }

  std::size_t next() {
    const std::size_t all = frontier_.size();
    const bool is_near = dives_ && random_.below(4) != 0;
    return all - 1 - random_.below(is_near ? std::min<std::size_t>(all, 16) : all);
  }

  static std::pair<std::uint64_t, std::uint64_t> fingerprint(const State& state) {
    return {base::fnv1a64(bytes_of(state)), std::hash<std::string_view>{}(bytes_of(state))};
  }

  std::string settle(State state) {
    std::string history;
    for (int i = 0; i < kMostFairSteps; ++i) {
      auto next = model_.fair_transitions(state);
      if (next.empty()) {
        ++settled_;
        const std::string wrong = model_.unsettled(state);
        return wrong.empty() ? "" : base::cat(wrong, history, "\n", model_.describe(state));
      }
      auto& taken = next[random_.below(next.size())];
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
  const bool dives_;
  std::vector<Visited> visited_;
  std::vector<std::size_t> frontier_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> known_;
  std::size_t settled_ = 0;
};

}  // namespace cdom::core::testing
