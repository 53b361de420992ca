// Model: the transitions of a small world around the shipping choice of channels.
//
// What is decided is decided by core::reconcile_clique and core::reconcile; a node prepares what
// the list that it has seen admits, and reports later. Watches lag per kind, a plan stops between
// any two of its actions for as long as it likes, pods are deleted by force, and two controllers
// lead.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "compute_domain/core/reconcile.h"
#include "core/channel_model/state.h"
#include "core/state_search.h"

namespace cdom::core::channel_model {

using Transition = testing::Transition<State>;

struct Bounds {
  int domains = kDomains;
  int nodes = kNodes;
  int controllers = kControllers;
  int channels = 2;  // numbers 1 to this
  int claims = 2;    // one after the other, of a domain on a node
  int crashes = 1;   // of a controller
  int forced = 1;    // pods deleted by force
  int lost = 0;      // lists deleted by hand
};

class Model {
 public:
  explicit Model(Bounds bounds) : bounds_(bounds) {}

  std::vector<Transition> transitions(const State& state);
  // Users and faults at rest.
  std::vector<Transition> fair_transitions(const State& state);
  // "" when every law holds, else which does not.
  [[nodiscard]] std::string violation(const State& state) const;
  // The same of a state in which nothing can happen by itself any more.
  [[nodiscard]] std::string unsettled(const State& state);
  [[nodiscard]] std::string describe(const State& state) const;

 private:
  void user_steps(const State& state, std::vector<Transition>& out) const;
  void agent_steps(const State& state, std::vector<Transition>& out) const;
  void watch_steps(const State& state, std::vector<Transition>& out) const;
  void controller_steps(const State& state, std::vector<Transition>& out);

  [[nodiscard]] const api::NodeList* list_of(Id content) const;
  [[nodiscard]] std::vector<StoredList> stored(const List& list) const;
  [[nodiscard]] CliqueWorld clique_world(const Objects& cache) const;
  [[nodiscard]] World domain_world(const Objects& cache, int domain) const;
  Id clique_plan(const Objects& cache);
  Id domain_plan(const Objects& cache, int domain);
  Told status_of(const Objects& cache, int domain);
  void status_steps(const State& state, std::vector<Transition>& out);
  Id keep(const Plan& plan);
  void apply_next(State& state, Flight& flight);
  bool apply(State& state, int domain, const Action& action);

  const Bounds bounds_;
  std::map<std::string, Id> list_ids_, plan_ids_;
  std::vector<StoredList> lists_;
  std::vector<Plan> plans_;
  std::unordered_map<std::string, Id> memo_;
  std::unordered_map<std::string, Told> told_memo_;
};

}  // namespace cdom::core::channel_model
