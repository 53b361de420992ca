// The sub-command `check` of the programs on a node: whether the node has what it needs.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "compute_domain/node_check/gather.h"

namespace cdom::program {

struct CheckFlags {
  std::string host_root;
  std::string output = "text";
  std::int64_t channels = 2048;
  std::string stay = "0s";
};

// Adds --host-root, --imex-channels, --output and --stay, which write into `flags`.
void add_check_options(CheckFlags& flags, boost::program_options::options_description& options);
// Their names, for the sub-command's help.
std::vector<std::string> check_flag_names();
// The flag that an environment variable stands for; "" for others.
std::string check_flag_of_variable(const std::string& name);
// "" when their values make sense.
std::string mistake_in(const CheckFlags& flags);

// Looks, prints, stays as long as the flags say or until `stop`, and gives the exit code: 0 when
// nothing fails, else 1.
int run_check(const CheckFlags& flags, node_check::Places places,
              std::optional<node_check::Fabric> fabric, const std::stop_token& stop);

}  // namespace cdom::program
