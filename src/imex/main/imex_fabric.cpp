#include "imex/main/imex_fabric.h"

#include <cstdio>

#include "cli/command_line.h"
#include "compute_domain/base/text.h"
#include "compute_domain/imex/fabric.h"
#include "compute_domain/imex/lacks.h"
#include "compute_domain/node_check/findings.h"
#include "compute_domain/nvidia/device_nodes.h"
#include "compute_domain/nvidia/fabric_verdict.h"
#include "compute_domain/nvidia/nvml_crash.h"
#include "node_check/main/check_command.h"

namespace cdom::program {

using base::cat;

std::vector<std::string> fabric_command_of(const ImexFlags& flags) {
  std::vector<std::string> command{"/proc/self/exe", "fabric", "--lines",
                                   cat("--driver-root=", flags.supervisor.driver_root),
                                   cat("--alt-proc-devices=", flags.node.proc_devices)};
  for (const std::string& folder : flags.supervisor.driver_libraries) {
    command.push_back(cat("--driver-libraries=", folder));
  }
  return command;
}

int print_fabric_lines(const ImexFlags& flags, const char* program) {
  nvidia::report_nvml_crashes(program);
  imex::print_fabric_lines({.driver_root = flags.supervisor.driver_root,
                            .folders = flags.supervisor.driver_libraries,
                            .proc_driver = nvidia::proc_driver_beside(flags.node.proc_devices)},
                           stdout);
  return 0;
}

int check_node(const ImexFlags& flags, const std::stop_token& stop) {
  const auto facts = imex::read_fabric(fabric_command_of(flags), stop);
  if (!facts) return 1;
  return run_check(kImexProgram, flags.node, places_of(flags),
                   node_check::fabric_of(*facts, flags.node.mode_of_fabric()), stop);
}

std::vector<std::string> check_command_of(const ImexFlags& flags) {
  const imex::SupervisorOptions& supervisor = flags.supervisor;
  std::vector<std::string> command{"/proc/self/exe",
                                   "check",
                                   "--lines",
                                   cat("--driver-root=", supervisor.driver_root),
                                   cat("--directory=", supervisor.directory),
                                   cat("--imex-mode=", flags.node.imex_mode),
                                   cat("--server-port=", supervisor.server_port),
                                   cat("--command-port=", supervisor.command_port),
                                   cat("--alt-proc-devices=", flags.node.proc_devices),
                                   cat("--kubelet-plugins-dir=", flags.node.plugins_dir),
                                   cat("--kubelet-registrar-dir=", flags.node.registrar_dir)};
  if (!flags.node.host_root.empty()) command.push_back(cat("--host-root=", flags.node.host_root));
  return command;
}

int print_check_lines(const ImexFlags& flags) {
  node_check::Places places = places_of(flags);
  places.is_brief = true;
  places.agents = flags.agents;
  places.is_persistent = flags.is_persistent;
  const auto findings = node_check::judge(node_check::gather(places));
  imex::print_check_lines(node_check::lacks_in(findings), stdout);
  return 0;
}

int print_fabric(const ImexFlags& flags, const std::stop_token& stop) {
  const auto facts = imex::read_fabric(fabric_command_of(flags), stop);
  if (!facts) return 1;
  const auto mode = flags.node.mode_of_fabric();
  return cli::print(kImexProgram, nvidia::describe_fabric(*facts, mode),
                    nvidia::verdict_of(*facts, mode).error.empty() ? 0 : 1);
}

}  // namespace cdom::program
