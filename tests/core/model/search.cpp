#include "core/model/search.h"

#include <algorithm>

#include "compute_domain/base/text.h"

namespace cdom::core::model {

namespace {

constexpr std::size_t kDeepest = 120;
constexpr std::size_t kSettleEvery = 40;
constexpr int kMostFairSteps = 2'000;
constexpr std::size_t kLongestWalk = 300;
constexpr std::uint64_t kRarity = 12;  // one step in so many may be of a user or a fault

}  // namespace

Search::Fingerprint Search::fingerprint_of(const State& state) {
  return {base::fnv1a64(bytes_of(state)), std::hash<std::string_view>{}(bytes_of(state))};
}

std::vector<std::string> Search::history_of(const std::vector<Frame>& path,
                                            const Transition& last) {
  std::vector<std::string> history;
  history.reserve(path.size() + 1);
  for (const Frame& frame : path) history.push_back(frame.name);
  history.push_back(last.name);
  return history;
}

std::string Search::explore(std::uint64_t seed, std::size_t most) {
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
      return story(history_of(path, step), step.after, wrong);
    }
    const Fingerprint fingerprint = fingerprint_of(step.after);
    if (!seen_from_this_seed_.insert(fingerprint).second) continue;
    visited_.insert(fingerprint);
    ++fresh;
    if (fresh % kSettleEvery == 0) {
      if (std::string wrong = settle(step.after, random); !wrong.empty()) {
        return story(history_of(path, step), step.after, wrong);
      }
    }
    if (path.size() < kDeepest) enter(step.after, step.name, path, random);
  }
  return {};
}

void Search::enter(const State& state, const std::string& name, std::vector<Frame>& path,
                   base::Random& random) {
  std::vector<Transition> next = model_.transitions(state);
  for (std::size_t i = next.size(); i > 1; --i) std::swap(next[i - 1], next[random.below(i)]);
  path.push_back({state, name, std::move(next)});
}

std::string Search::settle(State state, base::Random& random) {
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

std::string Search::walk(std::uint64_t seed, std::size_t most) {
  base::Random random(seed);
  std::size_t fresh = 0;
  for (std::size_t walks = 0; fresh < most && walks < most; ++walks) {
    State state = Model::initial();
    std::vector<std::string> history;
    while (history.size() < kLongestWalk) {
      std::vector<Transition> next = model_.transitions(state);
      if (random.below(kRarity) != 0) {
        const auto is_rare = [](const Transition& step) { return step.is_rare; };
        if (!std::ranges::all_of(next, is_rare)) std::erase_if(next, is_rare);
      }
      if (next.empty()) break;
      Transition& taken = next[random.below(next.size())];
      history.push_back(std::move(taken.name));
      state = taken.after;
      if (std::string wrong = model_.violation(state); !wrong.empty()) {
        return story(history, state, wrong);
      }
      if (!visited_.insert(fingerprint_of(state)).second) continue;
      if (++fresh % kSettleEvery != 0) continue;
      if (std::string wrong = settle(state, random); !wrong.empty()) {
        return story(history, state, wrong);
      }
    }
  }
  return {};
}

std::string Search::story(const std::vector<std::string>& history, const State& last,
                          const std::string& wrong) const {
  std::string text = wrong;
  for (const std::string& name : history) text += base::cat("\n  ", name);
  return base::cat(text, "\n", model_.describe(last));
}

}  // namespace cdom::core::model
