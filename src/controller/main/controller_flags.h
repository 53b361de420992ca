// What the command line of compute-domain-controller means.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>

#include "cli/cluster_flags.h"
#include "cli/command_line.h"
#include "cli/health/health_flags.h"
#include "compute_domain/core/world.h"
#include "compute_domain/kube/leader_election.h"

namespace cdom::program {

inline constexpr char kControllerProgram[] = "compute-domain-controller";

struct ControllerFlags {
  cli::ClusterFlags cluster;
  std::string node_ns = "compute-domain-nodes";
  int workers = 4;
  cli::HealthFlags health = {.listen = "127.0.0.1:8080"};
  std::string debug_listen;  // empty: no page
  std::int64_t max_nodes = 18;
  std::string imex_mode = "driverManaged";
  std::string isolation = "domain";
  int channels = 2048;
  bool label_nodes = false;
  bool share_claims = false;
  bool fill_cliques = false;
  std::set<std::string> adopt_from;
  bool elect = false;
  std::string lease_name = "compute-domain-controller";
  std::string lease_namespace;
  base::Duration lease_duration = std::chrono::seconds(15);
  base::Duration renew_deadline = std::chrono::seconds(10);
  base::Duration retry_period = std::chrono::seconds(2);
  std::string output = "text";  // of the sub-command plan
};

// Writes into `flags`, which must outlive it.
cli::CommandLine command_line_of(ControllerFlags& flags);

core::Settings settings_of(const ControllerFlags& flags);

// `pod` is this process' pod, "" outside one. The identity is that of this process alone, so that a
// container that starts again is not taken for the one before.
kube::LeaderElectionOptions election_of(const ControllerFlags& flags, const std::string& pod,
                                        std::uint64_t seed);

}  // namespace cdom::program
