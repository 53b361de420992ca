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
// Reasons, and nodes for each, that are named when nodes offer no seat.
constexpr std::size_t kMostLacks = 3, kMostNodes = 3;

// "n1, n2: DriverTooOld (the NVIDIA driver is too old …)", with where to read more; "" when no node
// reports that it lacks something.
std::string lacks_text(const SeatCount& seats) {
  std::vector<std::string> lacks;
  std::string example;
  for (const auto& [name, nodes] : seats.lacking) {
    const auto reason = Reason::find(name);
    if (!reason || nodes.empty()) continue;
    if (example.empty()) example = nodes.front();
    lacks.push_back(
        cat(base::list_names(nodes, kMostNodes), ": ", name, " (", reason->row().means, ")"));
  }
  if (lacks.empty()) return "";
  const std::size_t left = lacks.size() - std::min(lacks.size(), kMostLacks);
  lacks.resize(lacks.size() - left);
  return cat(base::join(lacks, "; "), left == 0 ? "" : cat("; and ", left, " more reasons"),
             "; see kubectl describe computedomainnode ", example);
}

// Why a claim of a placed domain may wait although there are seats; "" of other domains.
std::string placed_text(const World& world) {
  if (!world.reservation || !api::wants_one_clique(*world.view.domain)) return "";
  return cat("it takes seats of clique ", world.reservation->clique,
             " alone, so a pod that may not run on its nodes stays Pending: see the pod's node "
             "selector, affinity and tolerations");
}

// What a person looks at next; `free` of the seats are for `waiting` claims.
std::string next_text(const World& world, std::int64_t free, std::int64_t waiting) {
  if (std::string placed = placed_text(world); !placed.empty()) return placed;
  if (free >= waiting) return "see the scheduler's Event on the pod";
  const std::int64_t wants = world.view.domain->spec.num_nodes;
  const bool is_too_large = world.seats->one_per_node && wants > world.seats->usable();
  std::string others =
      is_too_large ? cat("the domain wants ", wants,
                         " nodes, so lower spec.numNodes and start fewer pods, or add nodes")
                   : "see in kubectl get computedomainnodes who has them";
  if (world.seats->out > 0) others += ", or bring back the nodes that take no pods";
  const std::string lacks = lacks_text(*world.seats);
  return lacks.empty() ? others : cat(others, "; these nodes offer none: ", lacks);
}

}  // namespace

std::int64_t SeatCount::free() const { return std::max<std::int64_t>(total - in_use - out, 0); }

std::string closed_text(const SeatCount& seats) {
  std::vector<std::string> texts;
  for (const auto& [word, nodes] : seats.closed) {
    texts.push_back(
        cat(base::list_names(nodes, kMostNodes), nodes.size() == 1 ? " is " : " are ", word));
  }
  return base::join(texts, "; ");
}

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
  if (seats.total == 0) {
    const std::string lacks = lacks_text(seats);
    return cat(text, " (no node offers one): ",
               lacks.empty() ? "see that compute-domain-agent runs on the nodes with GPUs" : lacks);
  }
  const std::int64_t free = seats.free();
  const std::string closed = closed_text(seats);
  return cat(text, " (", free, " of ", seats.total, seats.total == 1 ? " seat" : " seats",
             free == 1 || seats.total == 1 ? " is free" : " are free",
             closed.empty() ? "" : cat("; ", closed),
             seats.one_per_node ? "; a node serves one domain at a time): " : "): ",
             next_text(world, free, std::ssize(claims)));
}

std::string lack_of(const api::ComputeDomainNode& report) {
  if (report.stale) return "";
  const auto* can_serve = api::find_condition(report.status.conditions, api::kConditionCanServe);
  if (can_serve == nullptr || can_serve->status != api::ConditionStatus::False) return "";
  const auto reason = Reason::find(can_serve->reason);
  const bool is_known = reason && reason->row().subject == Subject::Node;
  return is_known ? can_serve->reason : "";
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
