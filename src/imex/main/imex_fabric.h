// What this node's GPUs say of their NVLink fabric, and what it lacks: `compute-domain-imex fabric`
// and `check`.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "imex/main/imex_flags.h"

namespace cdom::program {

// The process that asks NVML, as FabricWatch wants it: this program.
std::vector<std::string> fabric_command_of(const ImexFlags& flags);

// That process: may hang or crash in the GPU driver's library. Gives the exit code.
int print_fabric_lines(const ImexFlags& flags, const char* program);

// For people: starts that process, and prints what comes of it. 1 when the clique is not known.
int print_fabric(const ImexFlags& flags, const std::stop_token& stop);

// The process that looks at what the node lacks, as NodeWatch wants it: this program.
std::vector<std::string> check_command_of(const ImexFlags& flags);
// That process; it asks neither NVML nor anybody else.
int print_check_lines(const ImexFlags& flags);

// Prints what the node has of what it needs, and what to do about the rest: run_check().
int check_node(const ImexFlags& flags, const std::stop_token& stop);

}  // namespace cdom::program
