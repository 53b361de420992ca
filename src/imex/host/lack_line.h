// What a node lacks as lines of text: what `compute-domain-imex check --lines` prints for its
// supervisor, and a part of what the supervisor sends to agents.
#pragma once

#include <cstddef>

#include "compute_domain/base/daemon_status.h"
#include "imex/process/line.h"

namespace cdom::imex {

inline constexpr char kLackVerb[] = "lack";
inline constexpr char kLookedVerb[] = "looked";  // the last line: that was all
// More than there are reasons: a line has at most so many.
inline constexpr std::size_t kMostLacks = 16;

Line line_of(const base::NodeLack& lack);
// Total, as decode_line() is.
base::NodeLack lack_of(const Line& line);

}  // namespace cdom::imex
