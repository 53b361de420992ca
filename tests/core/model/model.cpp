#include "core/model/model.h"

#include "core/model/names.h"

namespace cdom::core::model {

using base::cat;

std::vector<Transition> Model::transitions(const State& state) {
  std::vector<Transition> out;
  user_steps(state, out);
  pod_steps(state, false, out);
  node_steps(state, out);
  if (bounds_.shipping_agent) {
    kubelet_steps(state, false, out);
    shipping_agent_steps(state, false, out);
  } else {
    agent_steps(state, out);
  }
  watch_steps(state, out);
  controller_steps(state, true, out);
  return out;
}

std::vector<Transition> Model::fair_transitions(const State& state) {
  std::vector<Transition> out;
  pod_steps(state, true, out);
  if (bounds_.shipping_agent) {
    kubelet_steps(state, true, out);
    shipping_agent_steps(state, true, out);
  } else {
    agent_steps(state, out);
  }
  watch_steps(state, out);
  controller_steps(state, false, out);
  return out;
}

std::string Model::describe(const State& state) const {
  std::string text;
  for (std::size_t d = 0; d < kDomains; ++d) {
    const DomainObject& domain = state.server.domains[d];
    text += cat(domain_name(static_cast<int>(d)), ": phase ", int{domain.phase}, " finalizer ",
                int{domain.has_finalizer}, " template ", int{state.server.templates[d]}, "\n");
    if (state.server.lists[d].exists != 0) {
      text += cat("  list ", api::encode_node_list(*lists_.at(state.server.lists[d].content).list),
                  "\n");
    }
    for (std::size_t n = 0; n < kNodes; ++n) {
      const GroupWord& word = state.server.reports[n].groups[d];
      text += cat("  ", node_name(static_cast<int>(n)), ": claim phase ",
                  int{state.server.claims[d][n].phase}, " generation ",
                  int{state.server.claims[d][n].generation}, " report state ", int{word.state},
                  " slot ", int{word.slot}, " term ", int{word.term}, " claim ", int{word.claim},
                  "; prepared ", int{state.nodes[n].prepared[d]}, "\n");
    }
  }
  for (std::size_t n = 0; n < kNodes; ++n) {
    const NodeTruth& truth = state.nodes[n];
    text += cat(node_name(static_cast<int>(n)), ": boot ", int{truth.boot}, " (Node ",
                int{state.server.boots[n]}, ", report ", int{state.server.reports[n].boot},
                ") daemon of ", int{truth.daemon_of}, " slot ", int{truth.slot}, " term ",
                int{truth.term}, "\n");
  }
  return text;
}
}  // namespace cdom::core::model
