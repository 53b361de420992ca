// The order of a list that was merged from two, as Kubernetes keeps it.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

namespace cdom::sandbox::patch {

// The items of `ours` in their order, with those of `theirs` (the items that only the server has)
// where they stood in `original` relative to ours. `same` tells whether two items are one. All
// three are arrays.
nlohmann::json merged_order(
    const nlohmann::json& original, const nlohmann::json& theirs, const nlohmann::json& ours,
    const std::function<bool(const nlohmann::json&, const nlohmann::json&)>& same);

}  // namespace cdom::sandbox::patch
