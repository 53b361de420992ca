// The node's fabric as lines of text: what `compute-domain-imex fabric --lines` prints for its
// supervisor, and what the supervisor sends to agents.
#pragma once

#include <string>

#include "compute_domain/nvidia/fabric_facts.h"
#include "imex/process/line.h"

namespace cdom::imex {

inline constexpr char kFabricVerb[] = "fabric";
inline constexpr char kCallVerb[] = "call";  // field `name`: a call of NVML that begins

Line line_of(const nvidia::FabricFacts& facts);
// Total, as decode_line() is.
nvidia::FabricFacts fabric_of(const Line& line);

}  // namespace cdom::imex
