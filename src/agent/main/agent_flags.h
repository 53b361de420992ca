// What the command line of compute-domain-agent means.
#pragma once

#include <string>

#include "cli/cluster_flags.h"
#include "cli/command_line.h"
#include "cli/health/health_flags.h"
#include "compute_domain/agent/cdi_channel_injector.h"
#include "compute_domain/core/node_world.h"
#include "compute_domain/dra/plugin.h"
#include "node_check/main/node_flags.h"

namespace cdom::program {

inline constexpr char kAgentProgram[] = "compute-domain-agent";

struct AgentFlags {
  NodeFlags node;
  std::string node_address;
  cli::ClusterFlags cluster;
  std::string pod_uid;
  std::string pods_socket = "/var/lib/kubelet/pods-api/pods-api.sock";
  std::string kubelet_state_file;
  std::string device_files = "none";
  std::string fabric_file;
  std::string imex_socket = "/run/compute-domain/imex.sock";
  std::string isolation = "domain";
  int seats = 8;
  bool channel_as_zero = false;
  int healthcheck_port = -1;
  cli::HealthFlags health = {.listen = "127.0.0.1:8081"};
};

// Writes into `flags`, which must outlive it.
cli::CommandLine command_line_of(AgentFlags& flags);

core::NodeSettings settings_of(const AgentFlags& flags);
agent::CdiOptions cdi_of(const AgentFlags& flags);
dra::PluginOptions plugin_of(const AgentFlags& flags);
node_check::Places places_of(const AgentFlags& flags);

}  // namespace cdom::program
