// Durations on a command line: "250ms", "30s", "5m", "2h", "0".
#pragma once

#include <optional>
#include <string_view>

#include "compute_domain/base/clock.h"

namespace cdom::cli {

std::optional<base::Duration> duration_of_flag(std::string_view text);

}  // namespace cdom::cli
