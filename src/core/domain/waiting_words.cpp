// Claims of a domain that have no seat: which they are, and what is said of them.
#include "core/domain/waiting_words.h"

#include <algorithm>

#include "compute_domain/base/text.h"
#include "compute_domain/core/status.h"
#include "core/pace.h"

namespace cdom::core {

namespace {

using base::cat;

constexpr char kNoSeatYet[] = " no seat yet";

}  // namespace

std::string waiting_text(const World& world) {
  const auto claims = waiting_claims(world.view, world.now);
  if (claims.empty()) return {};
  std::vector<std::string> names;
  names.reserve(claims.size());
  for (const api::ResourceClaim* claim : claims) names.push_back(claim->meta.name);
  const bool is_one = claims.size() == 1;
  std::string text = cat(claims.size(), is_one ? " pod waits: claim " : " pods wait: claims ",
                         base::list_names(names, 3), is_one ? " has" : " have", kNoSeatYet);
  if (!world.seats) return text;
  const SeatCount& seats = *world.seats;
  if (seats.total == 0) return text + " (no node offers one)";
  const std::int64_t free = std::max<std::int64_t>(seats.total - seats.in_use, 0);
  return cat(text, " (", free, " of ", seats.total, seats.total == 1 ? " seat" : " seats",
             free == 1 ? " is free" : " are free",
             seats.one_per_node ? "; a node serves one domain at a time)" : ")");
}

std::vector<const api::ResourceClaim*> former_claims(const World& world) {
  std::vector<const api::ResourceClaim*> claims;
  if (!world.reservation || !api::wants_one_clique(*world.view.domain)) return claims;
  for (const api::ResourceClaim& claim : world.view.claims) {
    if (standing_of(claim, world.view) != Standing::Pending) continue;
    const std::string clique = asked_clique(claim.spec);
    if (!clique.empty() && clique != world.reservation->clique) claims.push_back(&claim);
  }
  std::ranges::sort(claims, {}, [](const auto* claim) { return claim->meta.name; });
  return claims;
}

std::vector<const api::ResourceClaim*> waiting_claims(const DomainView& view, base::Time now,
                                                      std::optional<base::Duration>* next) {
  std::vector<const api::ResourceClaim*> claims;
  for (const api::ResourceClaim& claim : view.claims) {
    if (standing_of(claim, view) != Standing::Pending || claim.meta.is_deleting()) continue;
    if (!claim.meta.creation_time) continue;
    const base::Duration left = left_of(kClaimPatience, claim.meta.creation_time, now);
    if (left <= base::Duration::zero()) {
      claims.push_back(&claim);
    } else if (next != nullptr) {
      *next = std::min(next->value_or(left), left);
    }
  }
  std::ranges::sort(claims, {}, [](const auto* claim) { return claim->meta.name; });
  return claims;
}

bool tells_of_seats(const api::ComputeDomain& domain) {
  if (!domain.status) return false;
  const auto* ready = api::find_condition(domain.status->conditions, kConditionReady);
  return ready != nullptr && ready->message.find(kNoSeatYet) != std::string::npos;
}

}  // namespace cdom::core
