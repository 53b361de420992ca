// The command line of compute-domain-imex.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "bin/flags.h"
#include "compute_domain/imex/owner.h"

namespace cdom::bin {

struct ImexFlags {
  CommonFlags common;
  imex::OwnerOptions owner;
  std::string device_files = "make";
  std::string mode = "driverManaged";
  std::string host_socket = "/etc/nvidia-imex/imex_ctrl.sock";
  std::vector<std::string> imex_options;
  std::vector<std::uint32_t> allowed_users;
  std::string fabric_mode = "strict";
  bool prints_lines = false;
  std::string boot_id_file = "/proc/sys/kernel/random/boot_id";
};

boost::program_options::options_description options_of(ImexFlags& flags);

// The flag that an environment variable sets; "" for others.
std::string imex_flag_of_variable(const std::string& variable);

// Fills flags.owner; what is wrong with the values, or "".
std::string complete(ImexFlags& flags);

}  // namespace cdom::bin
