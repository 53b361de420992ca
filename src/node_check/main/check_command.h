// The sub-command `check` of the programs on a node: whether the node has what it needs.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/flag.h"
#include "compute_domain/node_check/gather.h"

namespace cdom::program {

struct CheckFlags {
  std::string host_root;
  std::string output = "text";
  std::int64_t channels = 2048;
  base::Duration stay{};
};

// They write into `flags`, which must outlive them.
std::vector<cli::Flag> rows_of(CheckFlags& flags);

// Looks, prints, stays as long as the flags say or until `stop`, and gives the exit code: 0 when
// nothing fails, else 1.
int run_check(const CheckFlags& flags, node_check::Places places,
              std::optional<node_check::Fabric> fabric, const std::stop_token& stop);

}  // namespace cdom::program
