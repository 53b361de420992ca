// The three things that compute-domain-agent does. Each gives the program's exit code.
#pragma once

#include "agent/main/agent_flags.h"
#include "cli/signals.h"
#include "compute_domain/agent/fabric_reading.h"

namespace cdom::program {

// Serves this node until a signal.
int run_agent(const AgentFlags& flags, cli::Signals& signals);

// Prints what the GPUs say of their fabric, and why there is a clique or none.
int print_fabric(const AgentFlags& flags, const cli::Signals& signals);

// What compute-domain-imex has read of the GPUs, or the file says.
agent::FabricFacts ask_fabric(const AgentFlags& flags, const cli::Signals& signals);

// Prints what the node has of what it needs, and what to do about the rest.
int check_node(const AgentFlags& flags, const cli::Signals& signals);

}  // namespace cdom::program
