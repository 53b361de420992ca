#include "sandbox/main/sandbox_flags.h"

#include "compute_domain/base/text.h"

namespace cdom::program {
namespace {

// What the addresses 10.88.<rack>.<slot> have room for.
constexpr int kMostRacks = 100;
constexpr int kMostNodesPerRack = 250;
constexpr char kUsage[] =
    "compute-domain-sandbox [FLAGS]\n"
    "    Runs a cluster in this process until SIGINT or SIGTERM. When it is up it prints one "
    "line,\n"
    "    \"ready: KUBECONFIG=FILE\".\n"
    "compute-domain-sandbox nodes --kubeconfig FILE [FLAGS]\n"
    "    Joins simulated nodes to the cluster of that kubeconfig.\n"
    "Faults: kubectl annotate node NODE sandbox.compute-domain/fault=power-off (or imex-kill,\n"
    "    imex-hang, imex-cut, imex-split, imex-foreign, fabric-error, fabric-unhealthy,\n"
    "    agent-crash, partition, slow-api, watch-cut); take it away to heal.";
constexpr char kNodesUsage[] =
    "compute-domain-sandbox nodes --kubeconfig FILE [FLAGS]\n"
    "    Joins simulated nodes to the cluster of that kubeconfig, until SIGINT or SIGTERM.";

std::vector<cli::Flag> rows_of(SandboxFlags& f) {
  using namespace cli;  // NOLINT(google-build-using-namespace): the words of a row
  return {
      {"racks", "", number(f.racks, 0, kMostRacks), "racks, each an NVLink clique", "nodes"},
      {"nodes-per-rack", "", number(f.nodes_per_rack, 1, kMostNodesPerRack), "nodes in each rack",
       "nodes"},
      {"plain-nodes", "", number(f.plain_nodes, 0, kMostNodesPerRack),
       "further nodes, without a fabric", "nodes"},
      {"listen", "", text(f.listen, "ADDRESS:PORT"),
       "loopback address of the API server; port 0 for any"},
      {"kubeconfig", "", text(f.kubeconfig, "FILE"),
       "file to write (with `nodes`: to read) the way to the API server", "nodes"},
      {"imex-delay", "", duration(f.imex_delay),
       "how long an IMEX daemon takes to become READY, as in 2s or 500ms", "nodes"},
      {"isolation", "", choice(f.isolation, "MODE", {"domain", "channel"}),
       "what keeps domains apart: domain (IMEX daemons of their own) or channel (daemons of the "
       "clique, an IMEX channel for each domain)",
       "nodes"},
      {"seed", "", number(f.seed), "seed of the random numbers: the same one, the same chances",
       "nodes"},
      {"run-controller", "", boolean(f.run_controller), "run the controller in this process"},
      {"metrics-listen", "", text(f.metrics_listen, "ADDRESS:PORT"),
       "address of that controller's /metrics, /healthz and /readyz; empty for none"},
      {"agent-metrics-listen", "", text(f.agent_metrics_listen, "ADDRESS:PORT"),
       "address of the agents' metrics, at /nodes/NODE/metrics each, and of /targets, which names "
       "them for http_sd_configs of Prometheus; empty for none"},
      {"namespace", "",
       text(f.ns, "NAMESPACE", {base::is_dns_label, "a valid name of a namespace"}),
       "the operator's own namespace, where the node lists are", "nodes"},
      {"node-namespace", "",
       text(f.node_ns, "NAMESPACE",
            {base::is_dns_label, "a valid name of a namespace; name the one of the agents' pods"}),
       "where the agents' pods are"},
  };
}

}  // namespace

cli::CommandLine command_line_of(SandboxFlags& flags) {
  return {
      .program = kSandboxProgram,
      .usage = kUsage,
      .sub_commands = {{"nodes", kNodesUsage}},
      .flags = rows_of(flags),
      .mistake = [&flags](const std::string& sub_command) -> std::string {
        if (sub_command == "nodes" && flags.kubeconfig.empty()) {
          return "name the cluster with --kubeconfig FILE";
        }
        if (sub_command.empty() && !flags.run_controller && !flags.metrics_listen.empty()) {
          return "--metrics-listen is of the controller, which --run-controller=false leaves out";
        }
        return "";
      }};
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
  options.imex.ready_delay = flags.imex_delay;
  return options;
}

}  // namespace cdom::program
