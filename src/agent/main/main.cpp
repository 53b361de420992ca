// compute-domain-agent: the DRA driver of a node: prepares the claims of ComputeDomains for
// kubelet, and tells what the node's IMEX daemon is. Sub-commands `fabric`: what the node's GPUs
// say; `check`: whether the node has what it needs.
#include <malloc.h>

#include "agent/main/agent_flags.h"
#include "agent/main/agent_run.h"
#include "cli/flags.h"
#include "cli/signals.h"
#include "compute_domain/base/text.h"
#include "compute_domain/http/client.h"

namespace {

using namespace cdom;  // NOLINT(google-build-using-namespace): a main file names every module

constexpr char kUsage[] =
    "compute-domain-agent [FLAGS]\n"
    "    Serves the kubelet of this node until SIGTERM.\n"
    "compute-domain-agent fabric [FLAGS]\n"
    "    Prints the NVLink fabric of this node: fabric --help.\n"
    "compute-domain-agent check [FLAGS]\n"
    "    Whether this node has what it needs: check --help.";
constexpr char kCheckUsage[] =
    "compute-domain-agent check [-o text|json] [FLAGS]\n"
    "    Prints what this node has of what ComputeDomains need, as far as the agent sees it, and "
    "what\n"
    "    to do about the rest. Exit code 1 when a requirement fails. Needs no cluster.";
const cli::SubCommand kFabric{
    "fabric",
    "compute-domain-agent fabric [--imex-socket FILE] [--fabric-file FILE] [--fabric-mode MODE]\n"
    "    Prints what compute-domain-imex on this node has read of the GPUs' NVLink fabric, and "
    "why\n"
    "    there is a clique or none. Exit code 1 when that cannot be said. Needs no cluster.",
    {"imex-socket", "fabric-file", "fabric-mode"}};

}  // namespace

int main(int argc, char** argv) {
  // Memory of its own for each of some twenty threads would hold what nobody uses.
  mallopt(M_ARENA_MAX, 1);  // NOLINT(concurrency-mt-unsafe): there is one thread
  cli::Signals signals;     // before any thread, and the library's are the first
  http::initialize_process();
  program::AgentFlags flags;
  cli::Parsed parsed{
      .sub_commands = {kFabric, {"check", kCheckUsage, program::agent_flags_of_check()}}};
  if (const auto exit = cli::parse_flags(argc, argv, kUsage, program::options_of(flags),
                                         flags.common, program::agent_flag_of_variable, &parsed)) {
    return *exit;
  }
  const std::string command = parsed.positional.empty() ? "" : parsed.positional.front();
  const bool is_known = command.empty() || command == "fabric" || command == "check";
  if (!is_known || parsed.positional.size() > 1) {
    return cli::usage_error(program::kAgentProgram,
                            base::cat("\"", parsed.positional.back(),
                                      "\" is not a sub-command; try `fabric` or `check`"));
  }
  const std::string mistake = command == "fabric"  ? mistake_in_fabric(flags)
                              : command == "check" ? mistake_in_check(flags)
                                                   : mistake_in(flags);
  if (!mistake.empty()) return cli::usage_error(program::kAgentProgram, mistake);
  if (command == "fabric") return program::print_fabric(flags, signals);
  if (command == "check") return program::check_node(flags, signals);
  return program::run_agent(flags, signals);
}
