#include "agent/main/agent_run.h"

namespace cdom::program {

int check_node(const AgentFlags& flags, const cli::Signals& signals) {
  const auto facts = ask_fabric(flags, signals);
  return run_check(flags.check, places_of(flags),
                   node_check::fabric_of(facts, fabric_mode_of(flags)), signals.token());
}

}  // namespace cdom::program
