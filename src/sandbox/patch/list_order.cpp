#include "sandbox/patch/list_order.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace cdom::sandbox::patch {

using nlohmann::json;

json merged_order(const json& original, const json& theirs, const json& ours,
                  const std::function<bool(const json&, const json&)>& same) {
  const auto place_of = [&](const json& item) {
    return std::ranges::find_if(original, [&](const json& other) { return same(other, item); }) -
           original.begin();
  };
  const auto nowhere = static_cast<std::ptrdiff_t>(original.size());
  json merged = json::array();
  std::size_t taken_theirs = 0, taken_ours = 0;
  while (taken_theirs < theirs.size() && taken_ours < ours.size()) {
    // An item that is new here has no place in the original: it comes in its turn.
    const std::ptrdiff_t our_place = place_of(ours[taken_ours]);
    const bool is_theirs = our_place < nowhere && place_of(theirs[taken_theirs]) < our_place;
    merged.push_back(is_theirs ? theirs[taken_theirs++] : ours[taken_ours++]);
  }
  while (taken_ours < ours.size()) merged.push_back(ours[taken_ours++]);
  while (taken_theirs < theirs.size()) merged.push_back(theirs[taken_theirs++]);
  return merged;
}

}  // namespace cdom::sandbox::patch
