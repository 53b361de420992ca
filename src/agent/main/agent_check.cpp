#include "agent/main/agent_run.h"
#include "node_check/main/check_command.h"

namespace cdom::program {

int check_node(const AgentFlags& flags, const cli::Signals& signals) {
  const auto facts = ask_fabric(flags, signals);
  return run_check(kAgentProgram, flags.node, places_of(flags),
                   node_check::fabric_of(facts, flags.node.mode_of_fabric()), signals.token());
}

}  // namespace cdom::program
