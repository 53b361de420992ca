// What the command line of kubectl compute-domain means.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "cli/command_line.h"

namespace cdom::program {

// How people call it: kubectl finds the program kubectl-compute_domain under this name.
inline constexpr char kPluginProgram[] = "kubectl compute-domain";

struct PluginFlags {
  std::string ns;  // "": the one of the kubeconfig's context
  std::string kubeconfig, context;
  std::string from;  // a bundle; "": the cluster
  std::string output = "text";
  bool no_logs = false;             // in a bundle
  std::optional<std::string> html;  // a file for a page; "-": standard output
  std::string operator_ns = "compute-domain-operator";
  std::string node_ns = "compute-domain-nodes";
  // Of the controller whose plan is asked for.
  std::set<std::string> adopt_from;
  int channels = 2048;
  std::int64_t max_nodes = 18;
};

// Writes into `flags`, which must outlive it.
cli::CommandLine command_line_of(PluginFlags& flags);

}  // namespace cdom::program
