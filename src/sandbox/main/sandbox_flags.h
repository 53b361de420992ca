// What the command line of compute-domain-sandbox says.
#pragma once

#include <cstdint>
#include <string>

#include "cli/command_line.h"
#include "compute_domain/core/node_world.h"
#include "compute_domain/sandbox/cluster.h"

namespace cdom::program {

inline constexpr char kSandboxProgram[] = "compute-domain-sandbox";

struct SandboxFlags {
  int racks = 2;
  int nodes_per_rack = 18;
  int plain_nodes = 0;
  std::string listen = "127.0.0.1:0";
  std::string kubeconfig;
  base::Duration imex_delay{};
  std::string isolation = "domain";
  std::uint64_t seed = 1;
  bool run_controller = true;
  std::string metrics_listen;        // of the controller; "": none
  std::string agent_metrics_listen;  // "": none
  std::string ns = "compute-domain-operator";
  std::string node_ns = "compute-domain-nodes";
};

// Writes into `flags`, which must outlive it.
cli::CommandLine command_line_of(SandboxFlags& flags);

core::NodeSettings node_settings(const SandboxFlags& flags);
sandbox::ClusterOptions cluster_options(const SandboxFlags& flags);

}  // namespace cdom::program
