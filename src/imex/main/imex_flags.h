// The command line of compute-domain-imex.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/health/health_flags.h"
#include "compute_domain/imex/supervisor.h"
#include "node_check/main/node_flags.h"

namespace cdom::program {

inline constexpr char kImexProgram[] = "compute-domain-imex";

imex::SupervisorOptions supervisor_by_default();

struct ImexFlags {
  NodeFlags node;
  imex::SupervisorOptions supervisor = supervisor_by_default();
  std::string device_files = "make";
  std::string host_socket = "/etc/nvidia-imex/imex_ctrl.sock";
  std::vector<std::string> imex_options;
  std::vector<std::uint32_t> allowed_users;
  bool prints_lines = false;
  cli::HealthFlags health;  // served only where an address is given; may have mistakes
  std::int64_t agents = 0;  // for `check --lines`, as the next
  bool is_persistent = false;
};

// Writes into `flags`, which must outlive it.
cli::CommandLine command_line_of(ImexFlags& flags);

node_check::Places places_of(const ImexFlags& flags);

// The flags as options of the supervisor.
imex::SupervisorOptions supervisor_of(const ImexFlags& flags);

}  // namespace cdom::program
