// Model: the transitions of a small world around the shipping core.
//
// The controller's decisions are those of core::reconcile and core::reconcile_group, an agent's
// those of core::reconcile_node or, in a smaller picture that leads to deeper histories, of
// agent.cpp. The API server, kubelet, the scheduler and the users are modelled here, each as steps
// that may be taken in any order: watches lag (a cache is a snapshot of some earlier moment, per
// kind), plans stop between any two actions, the controller crashes, nodes reboot, Nodes and pods
// are deleted under them.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compute_domain/core/node_plan.h"
#include "compute_domain/core/node_world.h"
#include "compute_domain/core/plan.h"
#include "compute_domain/core/world.h"
#include "core/model/intern.h"
#include "core/model/state.h"
#include "core/state_search.h"

namespace cdom::core::model {

using Transition = testing::Transition<State>;

// Bounds on what the environment may do, which bound the state space.
struct Bounds {
  int domains = kDomains;
  int nodes = kNodes;
  int claims_per_node = 2;  // of one domain, one after the other
  int reboots = 1;
  int crashes = 1;
  int removals = 1;             // of Nodes, which their kubelets make again sooner or later
  bool shipping_agent = false;  // core::reconcile_node decides on the nodes, not agent.cpp
};

class Model {
 public:
  explicit Model(Bounds bounds) : bounds_(bounds) {}

  // Every step that can be taken now.
  std::vector<Transition> transitions(const State& state);
  // Only what happens by itself, with the users and faults at rest: for "settles".
  std::vector<Transition> fair_transitions(const State& state);

  // "" when every safety law holds in this state, else the law and how it is broken.
  std::string violation(const State& state) const;
  // The same for a state in which nothing can happen by itself any more: is the goal reached?
  std::string unsettled(const State& state);
  // A law that was broken by a step, not by a state: told once, by the step.
  [[nodiscard]] const std::string& broken_by_step() const { return broken_by_step_; }

  [[nodiscard]] std::string describe(const State& state) const;

 private:
  void user_steps(const State& state, std::vector<Transition>& out) const;
  void pod_steps(const State& state, bool by_itself_only, std::vector<Transition>& out) const;
  void node_steps(const State& state, std::vector<Transition>& out) const;
  void agent_steps(const State& state, std::vector<Transition>& out) const;
  void shipping_agent_steps(const State& state, bool by_itself_only, std::vector<Transition>& out);
  void kubelet_steps(const State& state, bool by_itself_only, std::vector<Transition>& out) const;
  static void reboot_shipping_node(NodeTruth& truth);
  void watch_steps(const State& state, std::vector<Transition>& out) const;
  void report_steps(const State& state, std::vector<Transition>& out) const;
  void controller_steps(const State& state, bool with_crash, std::vector<Transition>& out);

  [[nodiscard]] NodeWorld node_world(const State& state, int node) const;
  const NodePlan& node_plan_of(const State& state, int node);
  void apply_intent(State& state, int node, const NodeIntent& intent);
  static void apply_intent(State& state, int node, const ServerIntent& intent);

  [[nodiscard]] World world_of(const Objects& cache, int domain) const;
  Id plan_of(const Objects& cache, int domain, bool group);
  void apply_next(State& state, PlanInFlight& flight);
  bool apply_action(State& state, PlanInFlight& flight, const Action& action);
  void check_status(const World& world, const Plan& plan);

  const Bounds bounds_;
  mutable Intern<StoredList> lists_;
  Intern<api::ComputeDomainStatus> statuses_;
  Intern<Plan> plans_;
  std::unordered_map<std::string, Id> plan_memo_;
  Intern<Checkpoint> checkpoints_;
  std::unordered_map<std::string, NodePlan> node_plan_memo_;
  std::string broken_by_step_;
};

}  // namespace cdom::core::model
