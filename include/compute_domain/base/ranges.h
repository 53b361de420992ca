// Sets of small numbers as text: "0-3,7". Pure.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace cdom::base {

// What such a set has is less: an IMEX node ID has 16 bits (open GPU kernel module), and so has
// whatever else is counted so.
constexpr int kRangesEnd = 1 << 16;

// In ascending order, neighbours as one range; "" for none.
std::string ranges_text(const std::set<std::int64_t>& numbers);

// Back again. A text that is not such a list, has a number from kRangesEnd on, or one that is not
// greater than those before it, gives an empty set: so a long text costs no more than a short one.
std::set<std::int64_t> parse_ranges(std::string_view text);

}  // namespace cdom::base
