// StateSearch: visits the states of a small world in a seeded order, holds each against the model's
// laws, and lets some of them come to rest, where others must hold.
//
// A Model has transitions(), fair_transitions(), violation(), unsettled() and describe(); a State
// is compared as its bytes_of(). Each seed begins anew, so that long histories are reached as well
// as short ones; distinct_states() counts a state once over all seeds.
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

// For so many states in all: few enough of each that late ones still begin anew.
inline std::size_t seeds_for(std::size_t states) {
  constexpr std::size_t kMostOfASeed = 250'000;
  return std::max<std::size_t>(states / kMostOfASeed, 2);
}

template <class State>
struct Transition {
  std::string name;  // for the story of a violation
  State after;
  bool is_rare = false;  // of users and faults: ends more than it begins
};

enum class Order {
  Spread,  // from any state that was found, as likely as from any other
  Dive,    // mostly on from those found last, which leads further away from the first
  Walk,    // one history after the other, in which users and faults are rare: long lives
};

template <class Model, class State>
class StateSearch {
 public:
  using Step = Transition<State>;
  // Names of steps, or how they begin.
  using Prefix = std::vector<std::string>;

  explicit StateSearch(Model model) : model_(std::move(model)) {}

  // Visits up to `most` states of this seed, from the first or from where the prefix leads.
  // "" when every law holds in all of them, else the story of a violation.
  std::string explore(Order order, std::uint64_t seed, std::size_t most,
                      const Prefix& prefix = {}) {
    random_ = base::Random(seed);
    seen_.clear();
    const State first = led_by(prefix);
    return order == Order::Walk ? walk(first, most) : grow(order, first, most);
  }
  [[nodiscard]] std::size_t distinct_states() const { return visited_.size(); }
  [[nodiscard]] std::size_t settled() const { return settled_; }

 private:
  static constexpr std::size_t kSettleEvery = 40;
  static constexpr int kMostFairSteps = 2'000;
  static constexpr std::size_t kLongestWalk = 300;
  static constexpr std::uint64_t kRarity = 12;  // one step in so many may be rare

  // 128 bits: two states of a few millions that share them by chance are out of the question.
  using Fingerprint = std::pair<std::uint64_t, std::uint64_t>;
  struct Found {
    std::size_t from = 0;
    std::string step;
  };
  struct Open {
    std::size_t at = 0;  // in `found`
    State state;
  };

  std::string grow(Order order, const State& first, std::size_t most) {
    std::vector<Found> found{{0, "start"}};
    std::vector<Open> frontier{{0, first}};
    seen_.insert(fingerprint(first));
    while (!frontier.empty() && found.size() < most) {
      std::swap(frontier[next_of(frontier.size(), order)], frontier.back());
      const Open open = std::move(frontier.back());
      frontier.pop_back();
      for (Step& step : model_.transitions(open.state)) {
        if (!is_new(step.after)) continue;
        found.push_back({open.at, std::move(step.name)});
        if (const std::string wrong = judge(step.after, found.size()); !wrong.empty()) {
          return story(wrong, history_of(found), step.after);
        }
        frontier.push_back({found.size() - 1, step.after});
      }
    }
    return {};
  }

  std::string walk(const State& first, std::size_t most) {
    std::size_t fresh = 0;
    for (std::size_t walks = 0; fresh < most && walks < most; ++walks) {
      State state = first;
      std::vector<std::string> history;
      while (history.size() < kLongestWalk) {
        std::vector<Step> next = model_.transitions(state);
        const auto is_rare = [](const Step& step) { return step.is_rare; };
        if (random_.below(kRarity) != 0 && !std::ranges::all_of(next, is_rare)) {
          std::erase_if(next, is_rare);
        }
        if (next.empty()) break;
        Step& taken = next[random_.below(next.size())];
        history.push_back(std::move(taken.name));
        state = taken.after;
        if (!is_new(state)) continue;
        if (const std::string wrong = judge(state, ++fresh); !wrong.empty()) {
          return story(wrong, history, state);
        }
      }
    }
    return {};
  }

  // The laws of a state that is the `number`th of its seed.
  std::string judge(const State& state, std::size_t number) {
    if (std::string wrong = model_.violation(state); !wrong.empty()) return wrong;
    return number % kSettleEvery == 0 ? settle(state) : std::string();
  }

  bool is_new(const State& state) {
    const Fingerprint of_it = fingerprint(state);
    if (!seen_.insert(of_it).second) return false;
    visited_.insert(of_it);
    return true;
  }

  State led_by(const Prefix& prefix) {
    State state{};
    for (const std::string& name : prefix) {
      auto steps = model_.transitions(state);
      const auto it = std::ranges::find_if(
          steps, [&](const Step& step) { return step.name.starts_with(name); });
      if (it == steps.end()) throw std::runtime_error(base::cat("no step \"", name, "\""));
      state = it->after;
    }
    return state;
  }

  std::size_t next_of(std::size_t all, Order order) {
    const bool is_near = order == Order::Dive && random_.below(4) != 0;
    return all - 1 - random_.below(is_near ? std::min<std::size_t>(all, 16) : all);
  }

  static Fingerprint fingerprint(const State& state) {
    return {base::fnv1a64(bytes_of(state)), std::hash<std::string_view>{}(bytes_of(state))};
  }

  // With users and faults at rest, whatever order things happen in, the goal is reached.
  std::string settle(State state) {
    std::string history;
    for (int i = 0; i < kMostFairSteps; ++i) {
      auto next = model_.fair_transitions(state);
      if (next.empty()) {
        ++settled_;
        const std::string wrong = model_.unsettled(state);
        return wrong.empty() ? ""
                             : base::cat("settles: ", wrong, history, "\n", model_.describe(state));
      }
      auto& taken = next[random_.below(next.size())];
      history += base::cat("\n    then ", taken.name);
      state = taken.after;
      if (const std::string wrong = model_.violation(state); !wrong.empty()) {
        return base::cat(wrong, history, "\n", model_.describe(state));
      }
    }
    return base::cat("settles: does not come to rest", history.substr(history.size() - 2'000));
  }

  static std::vector<std::string> history_of(const std::vector<Found>& found) {
    std::vector<std::string> steps;
    for (std::size_t at = found.size() - 1; at != 0; at = found[at].from) {
      steps.push_back(found[at].step);
    }
    std::ranges::reverse(steps);
    return steps;
  }

  [[nodiscard]] std::string story(const std::string& wrong, const std::vector<std::string>& history,
                                  const State& last) const {
    return base::cat(wrong, "\n  ", base::join(history, "\n  "), "\n", model_.describe(last));
  }

  Model model_;
  base::Random random_{0};
  std::set<Fingerprint> seen_;     // of this seed
  std::set<Fingerprint> visited_;  // of all seeds
  std::size_t settled_ = 0;
};

}  // namespace cdom::core::testing
