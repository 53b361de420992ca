// kubectl-compute_domain: what a person asks of ComputeDomains when something is wrong. kubectl
// runs it as `kubectl compute-domain`. Only reads.
#include <cstdio>

#include "cli/help_text.h"
#include "compute_domain/http/client.h"
#include "plugin/main/commands.h"
#include "plugin/main/credential_program.h"

using namespace cdom;  // NOLINT(google-build-using-namespace): a main file names every module

int main(int argc, char** argv) {
  program::keep_environment();
  http::initialize_process();
  program::PluginFlags flags;
  const cli::CommandLine line = program::command_line_of(flags);
  const cli::Parsed parsed = cli::parse(argc, argv, line);
  if (parsed.exit_code) return *parsed.exit_code;
  if (parsed.sub_command.empty()) {
    std::fputs(cli::help_text(line, nullptr).c_str(), stderr);
    return 2;
  }
  return program::run_command(flags, parsed.sub_command, parsed.arguments);
}
