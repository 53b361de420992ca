#include "sandbox/main/sandbox_flags.h"

#include <optional>

#include "cli/duration_flag.h"
#include "compute_domain/base/text.h"

namespace cdom::program {
namespace {

// What the addresses 10.88.<rack>.<slot> have room for.
constexpr int kMostRacks = 100;
constexpr int kMostNodesPerRack = 250;

}  // namespace

std::string mistake_in(const SandboxFlags& flags) {
  if (flags.racks < 0 || flags.racks > kMostRacks) {
    return base::cat("--racks: must be 0 to ", kMostRacks);
  }
  if (flags.nodes_per_rack < 1 || flags.nodes_per_rack > kMostNodesPerRack) {
    return base::cat("--nodes-per-rack: must be 1 to ", kMostNodesPerRack);
  }
  if (flags.plain_nodes < 0 || flags.plain_nodes > kMostNodesPerRack) {
    return base::cat("--plain-nodes: must be 0 to ", kMostNodesPerRack);
  }
  if (!cli::duration_of_flag(flags.imex_delay)) {
    return base::cat("--imex-delay: \"", flags.imex_delay,
                     "\" is not a duration; write 2s or 500ms");
  }
  if (flags.isolation != "domain" && flags.isolation != "channel") {
    return base::cat("--isolation: \"", flags.isolation, "\" is neither domain nor channel");
  }
  if (!base::is_dns_label(flags.ns)) {
    return base::cat("--namespace: \"", flags.ns, "\" is not a valid name of a namespace");
  }
  if (!base::is_dns_label(flags.node_ns)) {
    return base::cat("--node-namespace: \"", flags.node_ns,
                     "\" is not a valid name of a namespace; name the one of the agents' pods");
  }
  return "";
}

core::NodeSettings node_settings(const SandboxFlags& flags) {
  core::NodeSettings settings;
  if (flags.isolation == "channel") settings.isolation = api::Isolation::Channel;
  return settings;
}

sandbox::ClusterOptions cluster_options(const SandboxFlags& flags) {
  sandbox::ClusterOptions options;
  options.racks = flags.racks;
  options.nodes_per_rack = flags.nodes_per_rack;
  options.plain_nodes = flags.plain_nodes;
  options.seed = flags.seed;
  options.node_namespace = flags.node_ns;
  options.imex.ready_delay =
      cli::duration_of_flag(flags.imex_delay).value_or(base::Duration::zero());
  return options;
}

}  // namespace cdom::program
