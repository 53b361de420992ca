// The command line of compute-domain-imex.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/health_flags.h"
#include "compute_domain/imex/supervisor.h"
#include "node_check/main/check_command.h"

namespace cdom::program {

inline constexpr char kImexProgram[] = "compute-domain-imex";

imex::SupervisorOptions supervisor_by_default();

struct ImexFlags {
  imex::SupervisorOptions supervisor = supervisor_by_default();
  std::string device_files = "make";
  std::string mode = "driverManaged";
  std::string host_socket = "/etc/nvidia-imex/imex_ctrl.sock";
  std::vector<std::string> imex_options;
  std::vector<std::uint32_t> allowed_users;
  std::string fabric_mode = "strict";
  bool prints_lines = false;
  std::string boot_id_file = "/proc/sys/kernel/random/boot_id";
  cli::HealthFlags health;  // served only where an address is given; may have mistakes
  CheckFlags check;
  std::string node;
  std::string plugins_dir = "/var/lib/kubelet/plugins";
  std::string registrar_dir = "/var/lib/kubelet/plugins_registry";
  std::string cdi_root = "/var/run/cdi";
  std::int64_t agents = 0;
};

// Writes into `flags`, which must outlive it.
cli::CommandLine command_line_of(ImexFlags& flags);

node_check::Places places_of(const ImexFlags& flags);

// The flags as options of the supervisor.
imex::SupervisorOptions supervisor_of(const ImexFlags& flags);

}  // namespace cdom::program
