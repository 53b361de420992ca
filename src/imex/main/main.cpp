// compute-domain-imex: owns the node's nvidia-imex, so that an agent may be restarted or replaced
// while workloads run.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/environment.h"
#include "cli/signals.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "compute_domain/imex/supervisor.h"
#include "compute_domain/imex/tool_link.h"
#include "imex/main/imex_fabric.h"
#include "imex/main/imex_flags.h"
#include "imex/main/imex_probe.h"
#include "imex/main/metrics_port.h"

namespace {

using namespace cdom;  // NOLINT(google-build-using-namespace): a main file names every module
using base::cat;

constexpr const char* kProgram = program::kImexProgram;
constexpr base::Duration kProbePatience = std::chrono::seconds(5);
// Longer than anything but the wait for news takes.
constexpr base::Duration kStuck = std::chrono::minutes(1);

int run(const program::ImexFlags& flags, const cli::Signals& signals) {
  base::keep_log_from_waiting();  // nor may the daemon, which prints into the same log
  imex::SupervisorOptions options = program::supervisor_of(flags);
  options.reaps_orphans = getpid() == 1;
  options.program = cat(kProgram, "/", CDOM_VERSION);
  options.fabric_command = program::fabric_command_of(flags);
  options.check_command = program::check_command_of(flags);
  std::ifstream(flags.node.boot_id_file) >> options.boot_id;
  if (options.boot_id.empty()) {
    return cli::failure(kProgram, cat("cannot read ", flags.node.boot_id_file));
  }
  const base::SystemClock clock;
  base::Registry metrics;
  base::Pulses pulses(clock, kStuck);
  options.metrics = &metrics;
  options.pulse = &pulses.add("supervisor");
  const auto supervisor =
      imex::Supervisor::open(options, clock, base::Random(base::entropy_seed()));
  if (!supervisor) return cli::failure(kProgram, supervisor.error().message);
  base::log_info("starting", {{"socket", options.socket_path},
                              {"driver root", options.driver_root},
                              {"address", options.address},
                              {"boot", options.boot_id}});
  // The driver may still come; until then each wish for a daemon is answered so.
  if (const auto usable = (*supervisor)->check(); !usable)
    base::log_warning(usable.error().message);
  program::MetricsPort port(flags.health, metrics, pulses, clock);
  (*supervisor)->run(signals.token(), [&port] { return port.tend(); });
  base::log_info("stopped");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // A link in the image gives this name, for people who enter the container; the flags are the
  // tool's.
  if (std::filesystem::path(argv[0]).filename() == imex::kToolName) {
    const std::string directory =
        cli::find_variable("IMEX_DIRECTORY").value_or(program::supervisor_by_default().directory);
    return cli::failure(kProgram, imex::become_tool(directory, argv).message);
  }
  const cli::Signals signals;
  program::ImexFlags flags;
  const cli::Parsed parsed = cli::parse(argc, argv, program::command_line_of(flags));
  if (parsed.exit_code) return *parsed.exit_code;
  if (parsed.sub_command == "fabric") {
    return flags.prints_lines ? program::print_fabric_lines(flags, kProgram)
                              : program::print_fabric(flags, signals.token());
  }
  if (parsed.sub_command == "check") {
    return flags.prints_lines ? program::print_check_lines(flags)
                              : program::check_node(flags, signals.token());
  }
  if (parsed.sub_command == "probe") {
    const std::string fault = program::probe_imex(flags.supervisor.socket_path, kProbePatience);
    return fault.empty() ? 0 : cli::failure(kProgram, fault);
  }
  return run(flags, signals);
}
