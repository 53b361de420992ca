// The sub-command `check` of the programs on a node: whether the node has what it needs.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "node_check/main/node_flags.h"

namespace cdom::program {

// Looks, prints, stays as long as the flags say or until `stop`, and gives the exit code: 0 when
// nothing fails, else cli::kFoundWrong; 1 where standard output takes no more.
int run_check(const std::string& program, const NodeFlags& flags, node_check::Places places,
              std::optional<node_check::Fabric> fabric, const std::stop_token& stop);

}  // namespace cdom::program
