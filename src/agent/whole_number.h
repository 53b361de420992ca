// A whole number out of JSON. The library makes one of any number, and of one that is out of range
// whatever the processor makes of it. Pure.
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
