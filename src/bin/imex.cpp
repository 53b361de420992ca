// compute-domain-imex: owns the node's nvidia-imex, so that an agent may be restarted or replaced
// while workloads run.
#include <cstdio>
#include <fstream>

#include "bin/flags.h"
#include "bin/imex_flags.h"
#include "bin/signals.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"
#include "compute_domain/imex/owner.h"

namespace {

using namespace cdom;  // NOLINT(google-build-using-namespace): a main file names every module
using base::cat;

constexpr char kProgram[] = "compute-domain-imex";
constexpr char kUsage[] =
    "compute-domain-imex [FLAGS]\n"
    "    Runs nvidia-imex as the node's agent asks for it, until SIGTERM.";

int fail(const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", kProgram, what.c_str());
  return 1;
}

int run(const bin::ImexFlags& flags, const bin::Signals& signals) {
  base::keep_log_from_waiting();  // nor may the daemon, which prints into the same log
  imex::OwnerOptions options = flags.owner;
  options.program = cat(kProgram, "/", CDOM_VERSION);
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
  const bin::Signals signals;
  bin::ImexFlags flags;
  if (const auto exit = bin::parse_flags(argc, argv, kUsage, bin::options_of(flags), flags.common,
                                         bin::imex_flag_of_variable)) {
    return *exit;
  }
  if (const std::string mistake = bin::complete(flags); !mistake.empty()) {
    return bin::usage_error(kProgram, mistake);
  }
  return run(flags, signals);
}
