// compute-domain-sandbox: a simulated cluster of NVLink racks for kubectl, with the real controller
// and the real node agents in it. Sub-command `nodes`: simulated nodes for any other API server.
#include <boost/program_options/value_semantic.hpp>
#include <cstdio>

#include "cli/flags.h"
#include "cli/signals.h"
#include "compute_domain/base/text.h"
#include "compute_domain/http/client.h"
#include "sandbox/main/sandbox_flags.h"
#include "sandbox/main/sandbox_run.h"

namespace {

namespace po = boost::program_options;
using namespace cdom;  // NOLINT(google-build-using-namespace): a main file names every module

constexpr char kProgram[] = "compute-domain-sandbox";
constexpr char kUsage[] =
    "compute-domain-sandbox [FLAGS]\n"
    "    Runs a cluster in this process until SIGINT or SIGTERM. When it is up it prints one "
    "line,\n"
    "    \"ready: KUBECONFIG=FILE\".\n"
    "compute-domain-sandbox nodes --kubeconfig FILE [FLAGS]\n"
    "    Joins simulated nodes to the cluster of that kubeconfig.\n"
    "Faults: kubectl annotate node NODE sandbox.compute-domain/fault=power-off (or imex-kill,\n"
    "    imex-hang, agent-crash, partition, slow-api, watch-cut); take it away to heal.";

const cli::SubCommand kNodes{
    "nodes",
    "compute-domain-sandbox nodes --kubeconfig FILE [FLAGS]\n"
    "    Joins simulated nodes to the cluster of that kubeconfig, until SIGINT or SIGTERM.",
    {"racks", "nodes-per-rack", "plain-nodes", "kubeconfig", "imex-delay", "isolation", "seed",
     "namespace"}};

po::options_description options_of(program::SandboxFlags& flags) {
  po::options_description options("Flags");
  options.add_options()("racks", po::value(&flags.racks)->default_value(flags.racks),
                        "racks, each an NVLink clique")(
      "nodes-per-rack", po::value(&flags.nodes_per_rack)->default_value(flags.nodes_per_rack),
      "nodes in each rack")("plain-nodes",
                            po::value(&flags.plain_nodes)->default_value(flags.plain_nodes),
                            "further nodes, without a fabric")(
      "listen", po::value(&flags.listen)->default_value(flags.listen),
      "loopback address of the API server; port 0 for any")(
      "kubeconfig", po::value(&flags.kubeconfig),
      "file to write (with `nodes`: to read) the way to the API server")(
      "imex-delay", po::value(&flags.imex_delay)->default_value(flags.imex_delay),
      "how long an IMEX daemon takes to become READY, as in 2s or 500ms")(
      "isolation", po::value(&flags.isolation)->default_value(flags.isolation),
      "what keeps domains apart: domain (IMEX daemons of their own) or channel (daemons of the "
      "clique, an IMEX channel for each domain)")(
      "seed", po::value(&flags.seed)->default_value(flags.seed),
      "seed of the random numbers: the same one, the same chances")(
      "run-controller", po::value(&flags.run_controller)->default_value(flags.run_controller),
      "run the controller in this process (true or false)")(
      "namespace", po::value(&flags.ns)->default_value(flags.ns),
      "the operator's own namespace, where node lists lie")(
      "node-namespace", po::value(&flags.node_ns)->default_value(flags.node_ns),
      "where the agents' pods are");
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  cli::Signals signals;  // before any thread, and the library's are the first
  http::initialize_process();
  program::SandboxFlags flags;
  cli::CommonFlags common;
  cli::Parsed parsed{.sub_commands = {kNodes}};
  const auto no_variables = [](const std::string&) { return std::string(); };
  if (const auto exit =
          cli::parse_flags(argc, argv, kUsage, options_of(flags), common, no_variables, &parsed)) {
    return *exit;
  }
  if (const std::string mistake = program::mistake_in(flags); !mistake.empty()) {
    return cli::usage_error(kProgram, mistake);
  }
  if (parsed.positional.empty()) return program::run_sandbox(flags, signals);
  if (parsed.positional.front() != "nodes" || parsed.positional.size() > 1) {
    return cli::usage_error(kProgram, base::cat("\"", parsed.positional.back(),
                                                "\" is not a sub-command; try `nodes`"));
  }
  if (flags.kubeconfig.empty()) {
    return cli::usage_error(kProgram, "nodes: name the cluster with --kubeconfig FILE");
  }
  return program::run_nodes(flags, signals);
}
