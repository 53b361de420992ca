// Model: the transitions of a small world around the shipping placement.
//
// What is decided is decided by core::place and core::reconcile. Watches lag per kind, a plan stops
// between any two of its actions for as long as it likes, and there are two controllers that know
// nothing of each other: nobody's leadership is asked.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "compute_domain/core/placement.h"
#include "core/placement_model/state.h"
#include "core/state_search.h"

namespace cdom::core::placement_model {

using Transition = testing::Transition<State>;

struct Bounds {
  int domains = kDomains;
  int faults = 1;   // nodes that become NotReady
  int crashes = 1;  // of a controller
  bool deletes = true;
};

class Model {
 public:
  explicit Model(Bounds bounds) : bounds_(bounds) {}

  std::vector<Transition> transitions(const State& state);
  // Users, scheduler and faults at rest.
  std::vector<Transition> fair_transitions(const State& state);
  // "" when every law holds, else which does not.
  [[nodiscard]] std::string violation(const State& state) const;
  // The same of a state in which nothing can happen by itself any more.
  [[nodiscard]] std::string unsettled(const State& state) const;
  [[nodiscard]] std::string describe(const State& state) const;

 private:
  void user_steps(const State& state, std::vector<Transition>& out) const;
  void pod_steps(const State& state, std::vector<Transition>& out) const;
  void watch_steps(const State& state, std::vector<Transition>& out) const;
  void controller_steps(const State& state, std::vector<Transition>& out);

  [[nodiscard]] core::Reservations reservations_of(const Reservations& reservations) const;
  [[nodiscard]] PlacementWorld placement_world(const Objects& cache) const;
  [[nodiscard]] World domain_world(const Objects& cache, int domain) const;
  Id placement_plan(const Objects& cache);
  Id domain_plan(const Objects& cache, int domain);
  Id keep(const Plan& plan);
  void apply_next(State& state, Flight& flight);
  bool apply(State& state, int domain, const Action& action);

  const Bounds bounds_;
  std::map<std::string, Id> reservations_ids_, plan_ids_;
  std::vector<api::ConfigMap> reservations_;
  std::vector<Plan> plans_;
  std::unordered_map<std::string, Id> memo_;
};

}  // namespace cdom::core::placement_model
