// The two things that compute-domain-agent does. Each gives the program's exit code.
#pragma once

#include "bin/agent_flags.h"
#include "bin/signals.h"

namespace cdom::bin {

// Serves this node until a signal.
int run_agent(const AgentFlags& flags, Signals& signals);

// Prints what the GPUs say of their fabric, and why there is a clique or none.
int print_fabric(const AgentFlags& flags, const Signals& signals);

}  // namespace cdom::bin
