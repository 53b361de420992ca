// The two things that compute-domain-sandbox does, each until a signal comes. They give the exit
// code.
#pragma once

#include "bin/sandbox_flags.h"
#include "bin/signals.h"

namespace cdom::bin {

// A whole cluster in this process: API server, control plane, nodes, and the operator itself.
int run_sandbox(const SandboxFlags& flags, Signals& signals);

// Simulated nodes that join the cluster of a kubeconfig.
int run_nodes(const SandboxFlags& flags, Signals& signals);

}  // namespace cdom::bin
