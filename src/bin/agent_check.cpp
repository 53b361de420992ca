#include "bin/agent_run.h"

namespace cdom::bin {

int check_node(const AgentFlags& flags, const Signals& signals) {
  const auto facts = ask_fabric(flags, signals);
  return run_check(flags.check, places_of(flags),
                   node_check::fabric_of(facts, fabric_mode_of(flags)), signals.token());
}

}  // namespace cdom::bin
