// The command line of compute-domain-imex.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "compute_domain/imex/owner.h"
#include "node_check/main/check_command.h"

namespace cdom::program {

struct ImexFlags {
  cli::CommonFlags common;
  imex::OwnerOptions owner;
  std::string device_files = "make";
  std::string mode = "driverManaged";
  std::string host_socket = "/etc/nvidia-imex/imex_ctrl.sock";
  std::vector<std::string> imex_options;
  std::vector<std::uint32_t> allowed_users;
  std::string fabric_mode = "strict";
  bool prints_lines = false;
  std::string boot_id_file = "/proc/sys/kernel/random/boot_id";
  // Of the sub-command `check`.
  CheckFlags check;
  std::string node;
  std::string plugins_dir = "/var/lib/kubelet/plugins";
  std::string registrar_dir = "/var/lib/kubelet/plugins_registry";
  std::string cdi_root = "/var/run/cdi";
};

boost::program_options::options_description options_of(ImexFlags& flags);

// The flag that an environment variable sets; "" for others.
std::string imex_flag_of_variable(const std::string& variable);

// Those that the sub-command `check` reads.
std::vector<std::string> imex_flags_of_check();
node_check::Places places_of(const ImexFlags& flags);

// Fills flags.owner; what is wrong with the values, or "".
std::string complete(ImexFlags& flags);

}  // namespace cdom::program
