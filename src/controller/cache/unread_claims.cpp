#include "unread_claims.h"

#include <algorithm>
#include <chrono>

#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"

namespace cdom::controller {

namespace {

constexpr base::Duration kUnreadPodsCount = std::chrono::seconds(30);

// Of the claim's namespace: whom others name is not theirs.
std::string domain_of_claim(const Sources& from, const api::ResourceClaim& claim) {
  core::DomainRef ref = core::domain_ref_of(claim);
  if (ref.kind != core::DomainRef::Kind::Named) return {};
  const auto domains = from.stores.domains.by_index(kByUid, ref.uid);
  const bool is_its_own = !domains.empty() && domains.front()->meta.ns == claim.meta.ns;
  return is_its_own ? std::move(ref.uid) : std::string();
}

}  // namespace

UnreadClaims::UnreadClaims(const Sources& from) : from_(from), count_for_(kUnreadPodsCount) {
  for (const UnreadClaim& unread : from.workloads.unread_claims()) {
    auto claim = from.stores.claims.get(unread.name);
    if (claim == nullptr || claim->meta.uid != unread.uid || !core::is_shared(*claim)) continue;
    count_pods(*claim, unread);
    claims_.emplace(unread.uid, std::move(claim));
  }
}

void UnreadClaims::count_pods(const api::ResourceClaim& claim, const UnreadClaim& unread) {
  const base::Duration now = from_.clock.elapsed();
  const base::Duration decides = from_.memory.decides_since().value_or(base::Duration::zero());
  std::int64_t count = 0;
  for (const base::Duration seen : unread.pods_seen) {
    const base::Duration left = std::max(seen, decides) + kUnreadPodsCount - now;
    if (left <= base::Duration::zero()) continue;
    count_for_ = std::min(count_for_, left);
    ++count;
  }
  if (count == 0) return;
  std::set<std::string> cliques;
  for (const api::AllocatedDevice& device : claim.allocation->devices) {
    if (auto clique = core::shared_clique_of(device)) cliques.insert(*std::move(clique));
  }
  const std::string domain = domain_of_claim(from_, claim);
  for (const std::string& clique : cliques) pods_[{clique, domain}] += count;
}

bool UnreadClaims::are_on(const std::string& node) const {
  if (claims_.empty()) return false;
  return std::ranges::any_of(from_.stores.lists.by_index(kByNode, node), [&](const auto& stored) {
    const api::NodeListEntry* entry =
        stored->list ? core::find_entry(*stored->list, node) : nullptr;
    return entry != nullptr && std::ranges::any_of(entry->admits, [&](const auto& admission) {
             const auto it = claims_.find(admission.claim_uid);
             return it != claims_.end() && is_usable_on(from_, *it->second, node);
           });
  });
}

std::set<std::string> UnreadClaims::nodes_of(const std::string& claim_uid,
                                             const std::string& domain_uid) const {
  std::set<std::string> nodes;
  const auto it = claims_.find(claim_uid);
  if (it == claims_.end()) return nodes;
  for (const auto& stored : from_.stores.lists.by_index(kByDomain, domain_uid)) {
    if (!stored->list) continue;
    for (const api::NodeListEntry& entry : stored->list->entries) {
      const bool is_admitted = std::ranges::find(entry.admits, claim_uid,
                                                 &api::Admission::claim_uid) != entry.admits.end();
      if (is_admitted && is_usable_on(from_, *it->second, entry.node)) nodes.insert(entry.node);
    }
  }
  return nodes;
}

std::vector<core::UnreadPods> UnreadClaims::pods() const {
  std::vector<core::UnreadPods> all;
  all.reserve(pods_.size());
  for (const auto& [of, count] : pods_) all.push_back({of.first, of.second, count});
  return all;
}

}  // namespace cdom::controller
