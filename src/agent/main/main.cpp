// compute-domain-agent: the DRA driver of a node: prepares the claims of ComputeDomains for
// kubelet, and tells what the node's IMEX daemon is. Sub-commands `fabric`: what the node's GPUs
// say; `check`: whether the node has what it needs.
#include <malloc.h>

#include "agent/main/agent_flags.h"
#include "agent/main/agent_run.h"
#include "cli/signals.h"
#include "compute_domain/http/client.h"

using namespace cdom;  // NOLINT(google-build-using-namespace): a main file names every module

int main(int argc, char** argv) {
  // Memory of its own for each of some twenty threads would hold what nobody uses.
  mallopt(M_ARENA_MAX, 1);  // NOLINT(concurrency-mt-unsafe): there is one thread
  cli::Signals signals;     // before any thread, and the library's are the first
  http::initialize_process();
  program::AgentFlags flags;
  const cli::Parsed parsed = cli::parse(argc, argv, program::command_line_of(flags));
  if (parsed.exit_code) return *parsed.exit_code;
  if (parsed.sub_command == "fabric") return program::print_fabric(flags, signals);
  if (parsed.sub_command == "check") return program::check_node(flags, signals);
  return program::run_agent(flags, signals);
}
