// Search: visits the states of a model and holds each against the laws; from states all over the
// space it goes on with users and faults at rest, until nothing can happen any more.
//
// Every seed begins anew, so that long histories are reached as well as short ones; states are
// counted once over all seeds.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compute_domain/base/random.h"
#include "core/model/model.h"

namespace cdom::core::model {

class Search {
 public:
  explicit Search(Bounds bounds) : model_(bounds) {}

  // Both visit up to `most` new states; "" when every law holds, else the story of a violation.
  // Depth first in a seeded random order: every way on from the end of a history.
  std::string explore(std::uint64_t seed, std::size_t most);
  // One history after the other, in which users and faults are rare: long lives.
  std::string walk(std::uint64_t seed, std::size_t most);

  [[nodiscard]] std::size_t distinct_states() const { return visited_.size(); }
  [[nodiscard]] std::size_t settled() const { return settled_; }

 private:
  // 128 bits: two states of a few millions that share them by chance are out of the question.
  using Fingerprint = std::pair<std::uint64_t, std::uint64_t>;
  struct Frame {
    State state;
    std::string name;
    std::vector<Transition> next;
  };

  void enter(const State& state, const std::string& name, std::vector<Frame>& path,
             base::Random& random);
  // With users and faults at rest, whatever order things happen in, the goal is reached.
  std::string settle(State state, base::Random& random);
  [[nodiscard]] std::string story(const std::vector<std::string>& history, const State& last,
                                  const std::string& wrong) const;
  static std::vector<std::string> history_of(const std::vector<Frame>& path,
                                             const Transition& last);
  static Fingerprint fingerprint_of(const State& state);

  Model model_;
  std::set<Fingerprint> visited_, seen_from_this_seed_;
  std::size_t settled_ = 0;
};

}  // namespace cdom::core::model
