#include "imex/main/imex_fabric.h"

#include <cstdio>

#include "compute_domain/base/text.h"
#include "compute_domain/imex/fabric.h"
#include "compute_domain/nvidia/fabric_verdict.h"
#include "compute_domain/nvidia/nvml_crash.h"

namespace cdom::program {

using base::cat;

std::vector<std::string> fabric_command_of(const ImexFlags& flags) {
  std::vector<std::string> command{"/proc/self/exe", "fabric", "--lines",
                                   cat("--driver-root=", flags.supervisor.driver_root)};
  for (const std::string& folder : flags.supervisor.driver_libraries) {
    command.push_back(cat("--driver-libraries=", folder));
  }
  return command;
}

int print_fabric_lines(const ImexFlags& flags, const char* program) {
  nvidia::report_nvml_crashes(program);
  imex::print_fabric_lines(
      {.driver_root = flags.supervisor.driver_root, .folders = flags.supervisor.driver_libraries},
      stdout);
  return 0;
}

namespace {
nvidia::FabricMode mode_of(const ImexFlags& flags) {
  return flags.fabric_mode == "legacy" ? nvidia::FabricMode::Legacy : nvidia::FabricMode::Strict;
}
}  // namespace

int check_node(const ImexFlags& flags, const std::stop_token& stop) {
  const auto facts = imex::read_fabric(fabric_command_of(flags), stop);
  if (!facts) return 1;
  return run_check(flags.check, places_of(flags), node_check::fabric_of(*facts, mode_of(flags)),
                   stop);
}

int print_fabric(const ImexFlags& flags, const std::stop_token& stop) {
  const auto facts = imex::read_fabric(fabric_command_of(flags), stop);
  if (!facts) return 1;
  const auto mode = mode_of(flags);
  std::fputs(nvidia::describe_fabric(*facts, mode).c_str(), stdout);
  return nvidia::verdict_of(*facts, mode).error.empty() ? 0 : 1;
}

}  // namespace cdom::program
