// The two things that compute-domain-sandbox does, each until a signal comes. They give the exit
// code.
#pragma once

#include "cli/signals.h"
#include "sandbox/main/sandbox_flags.h"

namespace cdom::program {

// A whole cluster in this process: API server, control plane, nodes, and the operator itself.
int run_sandbox(const SandboxFlags& flags, cli::Signals& signals);

// Simulated nodes that join the cluster of a kubeconfig.
int run_nodes(const SandboxFlags& flags, cli::Signals& signals);

}  // namespace cdom::program
