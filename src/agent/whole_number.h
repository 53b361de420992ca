// A whole number out of JSON. The library converts any number to one, and for a number out of range
// the result depends on the processor. Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>

namespace cdom::agent {

// Throws std::out_of_range unless it is one, from `least` to `most`.
std::int64_t whole_number(const nlohmann::json& json,
                          std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                          std::int64_t most = std::numeric_limits<std::int64_t>::max());

}  // namespace cdom::agent
