// compute-domain-agent: the DRA driver of a node: prepares the claims of ComputeDomains for
// kubelet, and tells what the node's IMEX daemon is. Sub-command `fabric`: what the node's GPUs
// say.
#include <malloc.h>

#include "bin/agent_flags.h"
#include "bin/agent_run.h"
#include "bin/flags.h"
#include "bin/signals.h"
#include "compute_domain/base/text.h"
#include "compute_domain/http/client.h"

namespace {

using namespace cdom;  // NOLINT(google-build-using-namespace): a main file names every module

constexpr char kUsage[] =
    "compute-domain-agent [FLAGS]\n"
    "    Serves the kubelet of this node until SIGTERM.\n"
    "compute-domain-agent fabric [FLAGS]\n"
    "    Prints the NVLink fabric of this node: fabric --help.";
const bin::SubCommand kFabric{
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
  bin::Signals signals;     // before any thread, and the library's are the first
  http::initialize_process();
  bin::AgentFlags flags;
  bin::Parsed parsed{.sub_commands = {kFabric}};
  if (const auto exit = bin::parse_flags(argc, argv, kUsage, bin::options_of(flags), flags.common,
                                         bin::agent_flag_of_variable, &parsed)) {
    return *exit;
  }
  const bool is_question = !parsed.positional.empty();
  if (is_question && (parsed.positional.front() != "fabric" || parsed.positional.size() > 1)) {
    return bin::usage_error(bin::kAgentProgram, base::cat("\"", parsed.positional.back(),
                                                          "\" is no sub-command; try `fabric`"));
  }
  const std::string mistake = is_question ? mistake_in_fabric(flags) : mistake_in(flags);
  if (!mistake.empty()) return bin::usage_error(bin::kAgentProgram, mistake);
  return is_question ? bin::print_fabric(flags, signals) : bin::run_agent(flags, signals);
}
