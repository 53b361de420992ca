#include "proofs.h"

#include <algorithm>
#include <set>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/templates.h"

namespace cdom::controller {

using base::cat;
using base::Error;
using base::ErrorKind;
using base::Result;

namespace {

// Only what names the object.
api::ObjectMeta identity_of(const api::ObjectMeta& meta) {
  return {.name = meta.name, .ns = meta.ns, .uid = meta.uid};
}

// Only what says whose claim it is.
api::ResourceClaim allocated_claim(const std::string& uid, core::DomainRef ref) {
  api::ResourceClaim claim;
  claim.meta.uid = uid;
  claim.allocation.emplace();
  claim.domain_ref = std::move(ref);
  return claim;
}

// Each claim that there may be, as far as the lists tell claims apart: those that they admit, and
// one that no list knows. If none of these is held, no claim is.
std::vector<api::ResourceClaim> any_claims(const std::string& domain_uid,
                                           const std::vector<core::StoredList>& lists) {
  std::set<std::string> uids{""};
  for (const core::StoredList& stored : lists) {
    if (!stored.list) continue;
    for (const api::NodeListEntry& entry : stored.list->entries) {
      for (const api::Admission& admission : entry.admits) uids.insert(admission.claim_uid);
    }
  }
  std::vector<api::ResourceClaim> claims;
  claims.reserve(uids.size());
  for (const std::string& uid : uids) {
    claims.push_back(allocated_claim(uid, {core::DomainRef::Kind::Named, domain_uid}));
  }
  return claims;
}

}  // namespace

// The answer to a DELETE does not say that the object is gone; only a GET does. What the
// reference driver has made carries its finalizer, which has the name of ours.
template <class T, class IsOurs>
Result<void> Proofs::ensure_absent(const api::ObjectName& name, const IsOurs& is_ours) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    beat_();
    const auto object = client_.get<T>(name);
    if (!object && object.error().kind == ErrorKind::NotFound) return {};
    if (!object) return object.error();
    const api::ObjectMeta& meta = object->meta;
    if (!is_ours(meta)) return {};
    Result<void> done;
    if (!meta.is_deleting()) {
      done = client_.remove<T>(name, {meta.uid, meta.resource_version});
    } else if (meta.has_finalizer(api::kDomainFinalizer)) {
      done = release<T>(meta);
    } else {
      break;
    }
    if (!done && done.error().kind != ErrorKind::NotFound) return done.error();
  }
  return Error{ErrorKind::Invalid, cat(api::kind_of<T>().kind, " ", api::to_string(name),
                                       " is still there: somebody else's finalizer holds it")};
}

template <class T>
Result<void> Proofs::release(const api::ObjectMeta& meta) {
  std::vector<std::string> others = meta.finalizers;
  std::erase(others, api::kDomainFinalizer);
  const auto after = client_.patch<T>(
      api::name_of(meta), "", api::finalizers_patch({meta.uid, meta.resource_version}, others));
  if (!after) return after.error();
  return {};
}

template <class T>
Result<void> Proofs::ensure_all_absent(const kube::Selection& of) {
  const auto objects =
      list_kept<T>(of, [](const T& object) { return std::optional(identity_of(object.meta)); });
  if (!objects) return objects.error();
  for (const api::ObjectMeta& object : *objects) {
    Result<void> gone = ensure_absent<T>(
        api::name_of(object), [&](const api::ObjectMeta& meta) { return meta.uid == object.uid; });
    if (!gone) return gone;
  }
  return {};
}

Result<void> Proofs::ensure_no_pods(const kube::Selection& of) {
  const auto pods = list_kept<api::Pod>(
      of, [](const api::Pod& pod) { return std::optional(api::name_of(pod.meta)); });
  if (!pods) return pods.error();
  if (pods->empty()) return {};
  return Error{ErrorKind::Unavailable,
               cat(pods->size(), " pods of its DaemonSet have not ended yet, the first: ",
                   api::to_string(pods->front()))};
}

Result<void> Proofs::remove_node_labels(const std::string& labelled) {
  const auto nodes = list_kept<api::Node>({.label_selector = labelled}, [](const api::Node& node) {
    return std::optional(identity_of(node.meta));
  });
  if (!nodes) return nodes.error();
  for (const api::ObjectMeta& node : *nodes) {
    beat_();
    const auto after = client_.patch<api::Node>(
        api::name_of(node), "",
        api::metadata_patch({node.uid, {}}, {{api::kDomainLabel, std::nullopt}}, {}));
    if (!after && after.error().kind != ErrorKind::NotFound) return after.error();
  }
  return {};
}

Result<void> Proofs::operator()(const core::EnsureTemplateAbsent& action) {
  return ensure_absent<api::ResourceClaimTemplate>(action.name, [&](const api::ObjectMeta& meta) {
    // One that has lost its label we may not delete; it goes with its owner.
    return (core::is_owned_by(meta, action.domain_uid) &&
            core::bears_label_of(meta, action.domain_uid)) ||
           (action.predecessors && core::is_predecessors_template(meta, action.domain_uid));
  });
}

Result<void> Proofs::operator()(const core::EnsureNodeListsAbsent& action) {
  const auto lists = lists_of(action.ns, action.domain_uid);
  if (!lists) return lists.error();
  for (const api::ConfigMap& list : *lists) {
    Result<void> gone = ensure_absent<api::ConfigMap>(
        api::name_of(list.meta),
        [&](const api::ObjectMeta& meta) { return core::is_own(meta, action.domain_uid); });
    if (!gone) return gone;
  }
  return {};
}

Result<void> Proofs::operator()(const core::EnsureDomainGone& action) {
  Result<void> gone = action.may_wait
                          ? roll_call_.absence_of(action.uid, [this] { return domains_now(); })
                          : absence_among_listed(action.uid);
  if (gone) memory_.forget_domain(action.uid);
  return gone;
}

Result<void> Proofs::absence_among_listed(const std::string& uid) {
  if (!domains_) {
    auto listed = domains_now();
    if (!listed) return listed.error();
    domains_ = *std::move(listed);
  }
  return absence_in(*domains_, uid);
}

Result<ListedDomains> Proofs::domains_now() const {
  ListedDomains domains;
  const auto listed = list_kept<api::ComputeDomain>(
      {},
      [](const api::ComputeDomain& domain) {
        return std::optional(std::pair(domain.meta.uid, api::name_of(domain.meta)));
      },
      &domains.unreadable);
  if (!listed) return listed.error();
  domains.by_uid.insert(listed->begin(), listed->end());
  return domains;
}

Result<void> Proofs::operator()(const core::EnsureDomainLives& action) {
  const auto domains = client_.list_all<api::ComputeDomain>(
      {.ns = action.name.ns, .field_selector = cat("metadata.name=", action.name.name)});
  if (!domains) return domains.error();
  const bool lives = std::ranges::any_of(*domains, [&](const api::ComputeDomain& domain) {
    return domain.meta.uid == action.uid && !domain.meta.is_deleting();
  });
  if (lives) return {};
  return Error{ErrorKind::Conflict,
               cat("ComputeDomain ", api::to_string(action.name), " of UID ", action.uid,
                   " is gone or is being deleted, and the cache does not know it yet")};
}

// Those of a tenant may be many and large, and nobody else's work waits for a list of them that
// nothing depends on.
Result<void> Proofs::operator()(const core::EnsureClaimsReleased& action) {
  const auto lists = lists_that_may_admit(action);
  if (!lists) return lists.error();
  const auto still_held = [&](const std::vector<api::ResourceClaim>& claims) {
    auto held = core::held_claims(action.domain_uid, *lists, claims);
    for (const std::string& uid : action.late) held.erase(uid);
    return held.size();
  };
  if (still_held(any_claims(action.domain_uid, *lists)) == 0) return {};
  const auto claims = allocated_claims(action);
  if (!claims) return claims.error();
  const std::size_t held = still_held(*claims);
  if (held == 0) return {};
  return Error{ErrorKind::Conflict,
               cat(held, held == 1 ? " claim is" : " claims are", " still allocated")};
}

Result<std::vector<core::StoredList>> Proofs::lists_that_may_admit(
    const core::EnsureClaimsReleased& action) const {
  const auto maps = lists_of(action.lists_ns, action.domain_uid);
  if (!maps) return maps.error();
  std::vector<core::StoredList> lists;
  for (const api::ConfigMap& map : *maps) lists.push_back(core::stored_list(map));
  // And those of cliques in which it has a channel.
  const auto cliques = client_.list_all<api::ConfigMap>(
      {.ns = action.lists_ns,
       .label_selector = cat(api::kIsolationLabel, "=", api::to_string(api::Isolation::Channel))});
  if (!cliques) return cliques.error();
  for (const api::ConfigMap& map : *cliques) lists.push_back(core::stored_list(map));
  // It has left no list: each of its claims may be in use.
  if (action.has_predecessor) lists.emplace_back();
  return lists;
}

Result<std::vector<api::ResourceClaim>> Proofs::allocated_claims(
    const core::EnsureClaimsReleased& action) const {
  std::vector<api::Unreadable> unreadable;
  auto claims = list_kept<api::ResourceClaim>(
      {.ns = action.claims_ns},
      [](const api::ResourceClaim& claim) -> std::optional<api::ResourceClaim> {
        if (!claim.allocation) return std::nullopt;
        return allocated_claim(claim.meta.uid, core::domain_ref_of(claim));
      },
      &unreadable);
  if (!claims) return claims.error();
  // Nobody knows what an unreadable claim is allocated for: it may be the domain's.
  for (const api::Unreadable& object : unreadable) {
    claims->push_back(
        allocated_claim(object.uid, {core::DomainRef::Kind::Named, action.domain_uid}));
  }
  return claims;
}

// Its template is the sign that something of it may be left, and so goes last.
Result<void> Proofs::operator()(const core::EnsurePredecessorGone& action) {
  const std::string labelled = cat(api::kDomainLabel, "=", action.domain_uid);
  for (const auto& step : {&Proofs::ensure_all_absent<api::DaemonSet>, &Proofs::ensure_no_pods,
                           &Proofs::ensure_all_absent<api::ComputeDomainClique>}) {
    for (const std::string& ns : action.namespaces) {
      if (Result<void> done = (this->*step)({.ns = ns, .label_selector = labelled}); !done) {
        return done;
      }
    }
  }
  if (Result<void> done = remove_node_labels(labelled); !done) return done;
  for (const std::string& ns : action.namespaces) {
    Result<void> done = ensure_all_absent<api::ResourceClaimTemplate>(
        {.ns = ns,
         .label_selector = cat(labelled, ",", api::kTargetLabel, "=", api::kTargetDaemon)});
    if (!done) return done;
  }
  return {};
}

Result<void> Proofs::operator()(const core::EnsureNodeGone& action) {
  const auto node = client_.get<api::Node>({"", action.node});
  if (node) return Error{ErrorKind::Conflict, cat("Node ", action.node, " exists")};
  if (node.error().kind != ErrorKind::NotFound) return node.error();
  return {};
}

Result<void> Proofs::operator()(const core::EnsureNodeUnused& action) {
  const auto claims = claims_on_nodes();
  if (!claims) return claims.error();
  const std::size_t used = (*claims)->count("") + (*claims)->count(action.node);
  if (used == 0) return {};
  return Error{ErrorKind::Conflict,
               cat(used, used == 1 ? " claim" : " claims", " may be in use on Node ", action.node)};
}

// A proof for each of the nodes that lose their GPUs at about the same time. A claim that cannot
// be read has not been prepared by an agent, which reads it as this does; what was read of it
// before is in the cache, which the plan has looked at.
Result<std::shared_ptr<const ClaimsOnNodes>> Proofs::claims_on_nodes() {
  const base::Duration asked = clock_.elapsed();
  if (auto known = memory_.claims_on_nodes(asked)) return known;
  std::vector<api::Unreadable> passed_over;
  const auto claims = list_kept<api::ResourceClaim>(
      {},
      [](const api::ResourceClaim& claim) -> std::optional<std::vector<std::string>> {
        if (core::is_shared(claim)) return std::vector<std::string>{""};
        std::vector<std::string> nodes = core::nodes_of(claim);
        return nodes.empty() ? std::nullopt : std::optional(std::move(nodes));
      },
      &passed_over);
  if (!claims) return claims.error();
  auto by_node = std::make_shared<ClaimsOnNodes>();
  for (const std::vector<std::string>& nodes : *claims) by_node->insert(nodes.begin(), nodes.end());
  memory_.claims_listed(by_node, asked);
  return std::shared_ptr<const ClaimsOnNodes>(std::move(by_node));
}

Result<std::vector<api::ConfigMap>> Proofs::lists_of(const std::string& ns,
                                                     const std::string& domain_uid) const {
  return client_.list_all<api::ConfigMap>(
      {.ns = ns, .label_selector = cat(api::kDomainLabel, "=", domain_uid)});
}

}  // namespace cdom::controller
