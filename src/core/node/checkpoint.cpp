#include "compute_domain/core/checkpoint.h"

#include <algorithm>

#include "compute_domain/core/membership.h"

namespace cdom::core {

bool is_standing(const Checkpoint& checkpoint, std::string_view group) {
  return checkpoint.by_channel && checkpoint.clique && !checkpoint.clique->empty() &&
         group == group_id({"", *checkpoint.clique});
}

bool has_claims(const Checkpoint& checkpoint, std::string_view group) {
  return std::ranges::any_of(checkpoint.claims, [&](const auto& entry) {
    return entry.second.group == group && !entry.second.admin_access;
  });
}

bool has_claims(const Checkpoint& checkpoint) {
  return std::ranges::any_of(checkpoint.claims,
                             [](const auto& entry) { return !entry.second.admin_access; });
}

bool is_ahead(const Checkpoint& checkpoint) {
  const auto& served = checkpoint.served;
  return served && !is_standing(checkpoint, served->group) &&
         !has_claims(checkpoint, served->group);
}

}  // namespace cdom::core
