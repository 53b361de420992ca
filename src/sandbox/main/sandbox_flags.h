// What the command line of compute-domain-sandbox says.
#pragma once

#include <cstdint>
#include <string>

#include "compute_domain/core/node_world.h"
#include "compute_domain/sandbox/cluster.h"

namespace cdom::program {

struct SandboxFlags {
  int racks = 2;
  int nodes_per_rack = 18;
  int plain_nodes = 0;
  std::string listen = "127.0.0.1:0";
  std::string kubeconfig;
  std::string imex_delay = "0s";
  std::string isolation = "domain";
  std::uint64_t seed = 1;
  bool run_controller = true;
  std::string ns = "compute-domain-operator";
  std::string node_ns = "compute-domain-nodes";
};

// The flags as options of a cluster, once mistake_in() has found nothing.
core::NodeSettings node_settings(const SandboxFlags& flags);
sandbox::ClusterOptions cluster_options(const SandboxFlags& flags);
// One line that names the flag and the remedy; "" when all is well.
std::string mistake_in(const SandboxFlags& flags);

}  // namespace cdom::program
