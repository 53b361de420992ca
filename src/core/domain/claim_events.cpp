#include "core/domain/claim_events.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/placement.h"
#include "core/domain/still_running.h"

namespace cdom::core {

using base::cat;

std::vector<const api::ResourceClaim*> unreported_claims(const World& world) {
  std::vector<const api::ResourceClaim*> claims;
  for (const api::ResourceClaim& claim : world.view.claims) {
    if (claim.allocation && !world.reported_claims.contains(claim.meta.uid))
      claims.push_back(&claim);
  }
  std::ranges::sort(claims, {}, [](const api::ResourceClaim* claim) {
    return std::pair(api::name_of(claim->meta), claim->meta.uid);
  });
  return claims;
}

// Without the domain's name: its namespace is none of theirs.
void tell_claims_of_other_namespaces(const World& world, Plan& plan) {
  for (const api::ResourceClaim* claim : unreported_claims(world)) {
    if (standing_of(*claim, world.view) != Standing::WrongNamespace) continue;
    plan.actions.emplace_back(event_on(
        reference_to(*claim), "WrongNamespace",
        cat("the ComputeDomain with UID ", world.view.uid,
            " belongs to another namespace; a claim can only use one of its own namespace, ",
            claim->meta.ns, ": create a ComputeDomain there")));
  }
}

void tell_claims_of_a_former_clique(const World& world, Plan& plan) {
  for (const api::ResourceClaim* claim : former_claims(world)) {
    if (world.reported_claims.contains(claim->meta.uid)) continue;
    plan.actions.emplace_back(event_on(
        reference_to(*claim), "MadeForFormerClique",
        cat("asks for a seat of clique ", asked_clique(claim->spec), ", and ComputeDomain ",
            world.view.domain->meta.name, " is now in clique ", world.reservation->clique,
            "; delete the pod, so that its claim is created again")));
  }
}

void tell_claims_that_come_too_late(const World& world, Plan& plan) {
  const std::set<std::string> held = cached_held_claims(world);
  for (const api::ResourceClaim* claim : unreported_claims(world)) {
    const Standing standing = standing_of(*claim, world.view);
    if (standing == Standing::WrongNamespace || held.contains(claim->meta.uid)) continue;
    plan.actions.emplace_back(
        event_on(reference_to(*claim), "ComputeDomainBeingDeleted",
                 cat("ComputeDomain ", api::to_string(api::name_of(world.view.domain->meta)),
                     " is being deleted and takes no new claim; delete the pod")));
  }
}

}  // namespace cdom::core
