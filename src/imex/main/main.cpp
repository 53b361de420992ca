// compute-domain-imex: owns the node's nvidia-imex, so that an agent may be restarted or replaced
// while workloads run.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/flags.h"
#include "cli/signals.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "compute_domain/imex/owner.h"
#include "compute_domain/imex/tool_link.h"
#include "imex/main/imex_fabric.h"
#include "imex/main/imex_flags.h"
#include "imex/main/imex_probe.h"

namespace {

using namespace cdom;  // NOLINT(google-build-using-namespace): a main file names every module
using base::cat;

constexpr char kProgram[] = "compute-domain-imex";
constexpr char kUsage[] =
    "compute-domain-imex [FLAGS]\n"
    "    Runs nvidia-imex as the node's agent asks for it, until SIGTERM.\n"
    "compute-domain-imex probe [--socket FILE]\n"
    "    Whether the one that has this socket answers: exit code 0 or 1.\n"
    "compute-domain-imex fabric [FLAGS]\n"
    "    Prints the NVLink fabric of this node: fabric --help.\n"
    "compute-domain-imex check [FLAGS]\n"
    "    Whether this node has what it needs: check --help.";
const cli::SubCommand kProbe{"probe",
                             "compute-domain-imex probe [--socket FILE]\n"
                             "    Whether the one that has this socket answers: exit code 0 or 1.",
                             {"socket"}};
constexpr char kCheckUsage[] =
    "compute-domain-imex check [-o text|json] [FLAGS]\n"
    "    Prints what this node has of what ComputeDomains need, and what to do about the rest. "
    "Exit\n"
    "    code 1 when a requirement fails. Changes nothing, and needs no cluster.";
const cli::SubCommand kFabric{
    "fabric",
    "compute-domain-imex fabric [--driver-root DIR] [--driver-libraries DIR] [--fabric-mode MODE]\n"
    "    Prints what the GPUs of this node say of their NVLink fabric, and why there is a clique\n"
    "    or none. Exit code 1 when that cannot be said. Needs no cluster.",
    {"driver-root", "driver-libraries", "fabric-mode", "lines"}};
constexpr base::Duration kProbePatience = std::chrono::seconds(5);

int fail(const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", kProgram, what.c_str());
  return 1;
}

int run(const program::ImexFlags& flags, const cli::Signals& signals) {
  base::keep_log_from_waiting();  // nor may the daemon, which prints into the same log
  imex::OwnerOptions options = flags.owner;
  options.reaps_orphans = getpid() == 1;
  options.program = cat(kProgram, "/", CDOM_VERSION);
  options.fabric_command = program::fabric_command_of(flags);
  std::ifstream(flags.boot_id_file) >> options.boot_id;
  if (options.boot_id.empty()) return fail(cat("cannot read ", flags.boot_id_file));
  const base::SystemClock clock;
  const auto owner = imex::Owner::open(options, clock, base::Random(base::entropy_seed()));
  if (!owner) return fail(owner.error().message);
  base::log_info("starting", {{"socket", options.socket_path},
                              {"driver root", options.driver_root},
                              {"address", options.address},
                              {"boot", options.boot_id}});
  // The driver may still come; until then each wish for a daemon is answered so.
  if (const auto usable = (*owner)->check(); !usable) base::log_warning(usable.error().message);
  (*owner)->run(signals.token());
  base::log_info("stopped");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // By a link in the image, for who enters this container; its flags are the tool's.
  if (std::filesystem::path(argv[0]).filename() == imex::kToolName) {
    program::ImexFlags flags;
    program::options_of(flags);                             // for their defaults
    const char* directory = std::getenv("IMEX_DIRECTORY");  // NOLINT(concurrency-mt-unsafe)
    return fail(
        imex::become_tool(directory != nullptr ? directory : flags.owner.directory, argv).message);
  }
  const cli::Signals signals;
  program::ImexFlags flags;
  cli::Parsed parsed{
      .sub_commands = {kProbe, kFabric, {"check", kCheckUsage, program::imex_flags_of_check()}}};
  if (const auto exit = cli::parse_flags(argc, argv, kUsage, program::options_of(flags),
                                         flags.common, program::imex_flag_of_variable, &parsed)) {
    return *exit;
  }
  const std::string sub_command = parsed.positional.empty() ? "" : parsed.positional.front();
  if (parsed.positional.size() > 1 || (!sub_command.empty() && sub_command != kProbe.name &&
                                       sub_command != "check" && sub_command != kFabric.name)) {
    return cli::usage_error(kProgram,
                            cat("\"", parsed.positional.back(),
                                "\" is not a sub-command; try `check`, `fabric` or `probe`"));
  }
  if (const std::string mistake = program::complete(flags); !mistake.empty()) {
    return cli::usage_error(kProgram, mistake);
  }
  if (sub_command == kFabric.name) {
    return flags.prints_lines ? program::print_fabric_lines(flags, kProgram)
                              : program::print_fabric(flags, signals.token());
  }
  if (sub_command == "check") return program::check_node(flags, signals.token());
  if (!sub_command.empty()) {
    const std::string fault = program::probe_imex(flags.owner.socket_path, kProbePatience);
    return fault.empty() ? 0 : fail(fault);
  }
  return run(flags, signals);
}
