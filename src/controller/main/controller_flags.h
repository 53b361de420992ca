// What the command line of compute-domain-controller means.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <cstdint>
#include <string>

#include "cli/flags.h"
#include "cli/health_flags.h"
#include "compute_domain/core/world.h"
#include "compute_domain/kube/leader_election.h"

namespace cdom::program {

inline constexpr char kControllerProgram[] = "compute-domain-controller";

struct ControllerFlags {
  cli::CommonFlags common;
  std::string kubeconfig;
  std::string ns = "compute-domain-operator";
  std::string node_ns = "compute-domain-nodes";
  int workers = 4;
  cli::HealthFlags health = {.listen = "127.0.0.1:8080"};
  std::int64_t max_nodes = 18;
  std::string imex_mode = "driverManaged";
  std::string isolation = "domain";
  int channels = 2048;
  bool label_nodes = false;
  bool share_claims = false;
  std::string adopt_from;
  bool elect = false;
  std::string lease_name = "compute-domain-controller";
  std::string lease_namespace;
  std::string lease_duration = "15s";
  std::string renew_deadline = "10s";
  std::string retry_period = "2s";
  std::string output = "text";  // of the sub-command plan
};

// The options write into `flags`, which must outlive them.
boost::program_options::options_description options_of(ControllerFlags& flags);

// The flag that an environment variable stands for, under the names of the reference driver; "" for
// other variables.
std::string controller_flag_of_variable(const std::string& name);

// "" when the values make sense together, else what is wrong with which flag.
std::string mistake_in(const ControllerFlags& flags);

core::Settings settings_of(const ControllerFlags& flags);

// `pod` is this process' pod, "" outside one. The identity is that of this process alone, so that a
// container that starts again is not taken for the one before. Periods that do not parse are zero.
kube::LeaderElectionOptions election_of(const ControllerFlags& flags, const std::string& pod,
                                        std::uint64_t seed);

}  // namespace cdom::program
