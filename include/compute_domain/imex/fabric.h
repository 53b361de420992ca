// The node's NVLink fabric by a process of its own: NVML may hang or crash.
#pragma once

#include <cstdio>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "compute_domain/nvidia/nvml.h"

namespace cdom::imex {

// That process: asks NVML and prints each call before it begins, and at last the facts.
void print_fabric_lines(const nvidia::NvmlOptions& options, std::FILE* out);

// Starts that process by `command` and waits for it, at most ten seconds. A hang or a crash is an
// error in the facts. nullopt: `stop` came first.
std::optional<nvidia::FabricFacts> read_fabric(std::vector<std::string> command,
                                               const std::stop_token& stop);

}  // namespace cdom::imex
