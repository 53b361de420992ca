// compute-domain-sandbox: a simulated cluster of NVLink racks for kubectl, with the real controller
// and the real node agents in it. Sub-command `nodes`: simulated nodes for any other API server.
#include "cli/signals.h"
#include "compute_domain/http/client.h"
#include "sandbox/main/sandbox_flags.h"
#include "sandbox/main/sandbox_run.h"

using namespace cdom;  // NOLINT(google-build-using-namespace): a main file names every module

int main(int argc, char** argv) {
  cli::Signals signals;  // before any thread, and the library's are the first
  http::initialize_process();
  program::SandboxFlags flags;
  const cli::Parsed parsed = cli::parse(argc, argv, program::command_line_of(flags));
  if (parsed.exit_code) return *parsed.exit_code;
  if (parsed.sub_command == "nodes") return program::run_nodes(flags, signals);
  return program::run_sandbox(flags, signals);
}
