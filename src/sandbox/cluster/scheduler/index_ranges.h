// Sets of indexes as Kubernetes writes them: "0-3,7". Pure.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace cdom::sandbox {

std::string to_ranges(const std::set<std::int64_t>& indexes);
// What does not parse is left out.
std::set<std::int64_t> parse_ranges(std::string_view text);

}  // namespace cdom::sandbox
