#include "compute_domain/controller/workloads.h"

#include <algorithm>
#include <utility>

#include "compute_domain/api/names.h"
#include "compute_domain/controller/stores.h"

namespace cdom::controller {

namespace {

constexpr base::Duration kFirstPause = std::chrono::seconds(1);
// As of a key that fails; changes would bring it sooner.
constexpr base::Duration kFirstPauseOfReads = std::chrono::milliseconds(5);
constexpr base::Duration kLongestPause = std::chrono::seconds(30);
// Failures in a row after which a person has to know: a server that does not answer, or an
// admission webhook, is more than briefly away then.
constexpr int kLastingFailures = 3;
// For how long a read of a namespace's pods may put off the one for a claim that is new there.
constexpr base::Duration kReadPaces = std::chrono::seconds(1);
// So many owners are remembered that a domain has had, whether anything names them or not.
constexpr std::size_t kMostFormerOwners = 64;

std::string key_of(const api::ComputeDomain& domain) {
  return workload_in(domain.meta.ns, domain.meta.label(api::kWorkloadLabel));
}

// Null: it was not there.
const core::PodFacts* find_pod(const std::shared_ptr<const PodsRead>& read,
                               const std::string& uid) {
  if (read == nullptr) return nullptr;
  const auto it = read->pods.find(uid);
  return it == read->pods.end() ? nullptr : &it->second;
}

}  // namespace

std::map<std::string, api::OwnerReference> PodsRead::makers_of(
    const std::set<std::string>& uids) const {
  std::map<std::string, api::OwnerReference> makers;
  for (const std::string& uid : uids) {
    const auto pod = pods.find(uid);
    if (pod == pods.end()) continue;
    if (auto maker = core::maker_of(pod->second)) makers.emplace(uid, *std::move(maker));
  }
  return makers;
}

void Workloads::resolve(const std::string& uid, Claim& claim) {
  Namespace& ns = namespaces_[claim.ns];
  if (claim.pod) {
    const core::PodFacts* pod = find_pod(ns.last_read, claim.pod->uid);
    if (pod != nullptr) {
      if (!claim.workload) {
        claim.workload = core::workload_of(*pod, claim.pod->claim_name);
      }
      claim.lacks_templates = !claim.workload;
      if (!pod->meta.is_deleting()) claim.pod_seen = ns.last_read->at;
    }
  }
  if (claim.workload && claim.id.empty()) {
    claim.id = core::workload_id(claim.ns, claim.workload->workload);
    claims_of_[claim.id].insert(uid);
  }
  if (claim.workload || !claim.id.empty()) {
    ns.unknown.erase(uid);
  } else {
    ns.unknown.insert(uid);
  }
}

// Those of another namespace may have the same id: anybody may write a domain's label.
bool Workloads::has_claims(const std::string& ns, const std::string& workload) const {
  const auto of = claims_of_.find(workload);
  return of != claims_of_.end() && std::ranges::any_of(of->second, [&](const std::string& uid) {
           const auto it = claims_.find(uid);
           return it != claims_.end() && it->second.ns == ns;
         });
}

void Workloads::leave_workload(const std::string& uid, const Claim& claim) {
  const auto of = claims_of_.find(claim.id);
  if (of == claims_of_.end() || of->second.erase(uid) == 0) return;
  if (of->second.empty()) claims_of_.erase(of);
  forget_workload(claim.ns, claim.id);
}

// Unless a claim is of it.
void Workloads::forget_workload(const std::string& ns, const std::string& workload) {
  if (has_claims(ns, workload)) return;
  domains_seen_.erase(workload_in(ns, workload));
  refused_.erase(workload_in(ns, workload));
}

// Ends the namespace unless it is needed. That it was read stays for a moment, or claims that come
// and go would have its pods read as often.
void Workloads::let_go(const std::string& ns) {
  const auto it = namespaces_.find(ns);
  if (it == namespaces_.end() || it->second.is_needed()) return;
  if (!it->second.read_at) {
    namespaces_.erase(it);
    return;
  }
  it->second.last_read.reset();
  let_go_.emplace(*it->second.read_at, ns);
}

void Workloads::forget_old_reads(base::Duration now) {
  while (!let_go_.empty() && let_go_.begin()->first + kReadPaces <= now) {
    const auto& [read_at, name] = *let_go_.begin();
    const auto it = namespaces_.find(name);
    // It may be needed again, or have been read once more.
    if (it != namespaces_.end() && !it->second.is_needed() && it->second.read_at == read_at) {
      namespaces_.erase(it);
    }
    let_go_.erase(let_go_.begin());
  }
}

void Workloads::claim_seen(const api::ResourceClaim& object, base::Duration now) {
  const std::scoped_lock lock(mutex_);
  forget_old_reads(now);
  const auto [it, is_new] = claims_.try_emplace(object.meta.uid);
  Claim& claim = it->second;
  if (!is_new && !claim.ns.empty()) return;
  claim.ns = object.meta.ns;
  claim.pod = core::pod_of(object);
  claim.seen = now;
  if (!claim.pod) claim.workload = core::workload_of(object);
  Namespace& ns = namespaces_[claim.ns];
  ns.claims.insert(object.meta.uid);
  // What the last reads could not tell says nothing of this one.
  ns.vain_reads = 0;
  resolve(object.meta.uid, claim);
}

void Workloads::claim_admitted(const std::string& uid, const std::string& workload) {
  const std::scoped_lock lock(mutex_);
  Claim& claim = claims_[uid];
  if (claim.id == workload) return;
  leave_workload(uid, claim);
  claim.id = workload;
  claims_of_[workload].insert(uid);
  if (!claim.ns.empty()) namespaces_[claim.ns].unknown.erase(uid);
}

void Workloads::forget_claim(const std::string& uid) {
  const std::scoped_lock lock(mutex_);
  const auto node = claims_.extract(uid);
  if (node.empty()) return;
  const Claim& claim = node.mapped();
  leave_workload(uid, claim);
  if (claim.workload) {
    if (claim.workload->witness) jobs_.erase({claim.ns, claim.workload->witness->uid});
    if (!has_claims(claim.ns, claim.id)) jobs_.erase({claim.ns, claim.workload->workload.uid});
  }
  const auto ns = namespaces_.find(claim.ns);
  if (ns == namespaces_.end()) return;
  ns->second.claims.erase(uid);
  ns->second.unknown.erase(uid);
  if (ns->second.claims.empty()) {
    std::erase_if(jobs_, [&](const auto& job) { return job.first.first == claim.ns; });
  }
  let_go(claim.ns);
}

// Gives whether anything became known.
bool Workloads::resolve(const Namespace& ns, const std::string& claim_uid, Shared& shared) {
  bool is_news = false;
  for (auto& [uid, consumer] : shared.pods) {
    const core::PodFacts* pod = find_pod(ns.last_read, uid);
    if (!consumer.node.empty() || pod == nullptr || pod->node.empty()) continue;
    consumer.node = pod->node;
    shared_on_[consumer.node].insert(claim_uid);
    ++moves_;
    is_news = true;
  }
  return is_news;
}

void Workloads::leave_node(const std::string& node, const std::string& claim_uid) {
  const auto on = shared_on_.find(node);
  if (on == shared_on_.end()) return;
  ++moves_;
  if (const auto it = on->second.find(claim_uid); it != on->second.end()) on->second.erase(it);
  if (on->second.empty()) shared_on_.erase(on);
}

void Workloads::consumers_seen(const api::ResourceClaim& claim, base::Duration now) {
  const std::string& uid = claim.meta.uid;
  if (!core::is_shared(claim) || claim.reserved_for.empty()) return forget_consumers(uid);
  const std::scoped_lock lock(mutex_);
  forget_old_reads(now);
  Namespace& ns = namespaces_[claim.meta.ns];
  ns.shared.insert(uid);
  Shared& shared = shared_[uid];
  shared.name = api::name_of(claim.meta);
  std::map<std::string, Consumer> left = std::move(shared.pods);
  shared.pods.clear();
  for (const api::ClaimConsumer& consumer : claim.reserved_for) {
    auto known = left.extract(consumer.uid);
    if (known.empty()) {
      shared.pods.emplace(consumer.uid, Consumer{.seen = now, .node = {}});
      ns.vain_reads = 0;
    } else {
      shared.pods.insert(std::move(known));
    }
  }
  for (const auto& [pod, consumer] : left) leave_node(consumer.node, uid);
  resolve(ns, uid, shared);
}

void Workloads::forget_consumers(const std::string& claim_uid) {
  const std::scoped_lock lock(mutex_);
  const auto node = shared_.extract(claim_uid);
  if (node.empty()) return;
  for (const auto& [pod, consumer] : node.mapped().pods) leave_node(consumer.node, claim_uid);
  if (const auto ns = namespaces_.find(node.mapped().name.ns); ns != namespaces_.end()) {
    ns->second.shared.erase(claim_uid);
  }
  let_go(node.mapped().name.ns);
}

void Workloads::pods_read(const std::string& ns, std::vector<core::PodFacts> pods, bool with_specs,
                          base::Duration now) {
  auto read = std::make_shared<PodsRead>(PodsRead{.pods = {}, .at = now});
  for (core::PodFacts& pod : pods) {
    core::trim_pod(pod.meta);
    const std::string uid = pod.meta.uid;
    read->pods.emplace(uid, std::move(pod));
  }
  const std::scoped_lock lock(mutex_);
  forget_old_reads(now);
  Namespace& known = namespaces_[ns];
  known.last_read = std::move(read);
  known.read_at = now;
  known.specs_read = with_specs;
  known.failed_reads = 0;
  known.no_read_before.reset();
  bool learned_something = false;
  const std::size_t workloads = claims_of_.size();
  for (const std::string& uid : known.claims) {
    Claim& claim = claims_.at(uid);
    const auto was_seen = claim.pod_seen;
    resolve(uid, claim);
    learned_something = learned_something || claim.pod_seen != was_seen;
  }
  known.read_found_workload = claims_of_.size() > workloads;
  for (const std::string& uid : known.shared) {
    if (resolve(known, uid, shared_[uid])) learned_something = true;
  }
  known.vain_reads = learned_something ? 0 : known.vain_reads + 1;
  // All that it was read for may be gone meanwhile.
  let_go(ns);
}

void Workloads::read_failed(const std::string& ns, base::Duration now, base::Duration at_least) {
  const std::scoped_lock lock(mutex_);
  const auto known = namespaces_.find(ns);
  if (known == namespaces_.end()) return;
  const base::Duration pause =
      kFirstPauseOfReads * (1 << std::min(known->second.failed_reads++, 20));
  known->second.no_read_before = now + std::max(std::min(pause, kLongestPause), at_least);
}

void Workloads::job_read(const std::string& ns, const std::string& uid,
                         std::optional<api::Job> job) {
  const std::scoped_lock lock(mutex_);
  const auto known = namespaces_.find(ns);
  if (known == namespaces_.end() || known->second.claims.empty()) return;
  jobs_[{ns, uid}] = std::move(job);
}

void Workloads::domain_refused(const api::ComputeDomain& domain, const std::string& why,
                               bool is_final, base::Duration now, base::Duration at_least) {
  const std::scoped_lock lock(mutex_);
  if (!has_claims(domain.meta.ns, domain.meta.label(api::kWorkloadLabel))) return;
  Refused& refused = refused_[key_of(domain)];
  const base::Duration pause = kFirstPause * (1 << std::min(refused.times++, 10));
  refused.refusal = {.why = why,
                     .next_try = now + std::max(std::min(pause, kLongestPause), at_least),
                     .lasts = is_final || refused.times >= kLastingFailures};
}

// Beyond a number, only owners that may come up again are kept: those that it has, and those that
// one of its claims names.
void Workloads::note_owners(const api::ComputeDomain& domain, std::set<std::string>& owners) const {
  std::set<std::string> named;
  for (const auto& owner : domain.meta.owners) named.insert(owner.uid);
  owners.insert(named.begin(), named.end());
  if (owners.size() <= named.size() + kMostFormerOwners) return;
  if (const auto of = claims_of_.find(domain.meta.label(api::kWorkloadLabel));
      of != claims_of_.end()) {
    for (const std::string& uid : of->second) {
      const auto claim = claims_.find(uid);
      if (claim == claims_.end() || claim->second.ns != domain.meta.ns) continue;
      const auto& workload = claim->second.workload;
      if (workload && workload->owner) named.insert(workload->owner->uid);
    }
  }
  std::erase_if(owners, [&](const std::string& uid) { return !named.contains(uid); });
}

void Workloads::domain_seen(const api::ComputeDomain& domain, base::Duration now) {
  const std::string& ns = domain.meta.ns;
  const std::scoped_lock lock(mutex_);
  forget_old_reads(now);
  if (domain.meta.is_deleting()) namespaces_[ns].ending.insert(domain.meta.uid);
  if (!domain.spec.workload) return;
  Domain& known = domains_[domain.meta.uid];
  const std::string workload = domain.meta.label(api::kWorkloadLabel);
  if (known.workload != workload) forget_workload(ns, std::exchange(known.workload, workload));
  domains_seen_[key_of(domain)] = now;
  refused_.erase(key_of(domain));
  // Needed until the domain is made, and it is.
  jobs_.erase({ns, domain.spec.workload->uid});
  std::erase_if(jobs_, [&](const auto& job) {
    return job.first.first == ns && job.second &&
           std::ranges::any_of(job.second->meta.owners, [&](const auto& owner) {
             return owner.uid == domain.spec.workload->uid;
           });
  });
  note_owners(domain, known.owners);
}

void Workloads::forget_domain(const api::ComputeDomain& domain) {
  const std::scoped_lock lock(mutex_);
  const std::string& ns = domain.meta.ns;
  const auto node = domains_.extract(domain.meta.uid);
  if (!node.empty()) forget_workload(ns, node.mapped().workload);
  if (const auto known = namespaces_.find(ns); known != namespaces_.end()) {
    known->second.ending.erase(domain.meta.uid);
    let_go(ns);
  }
}

std::optional<std::string> Workloads::workload_of(const std::string& claim_uid) const {
  const std::scoped_lock lock(mutex_);
  const auto it = claims_.find(claim_uid);
  if (it == claims_.end() || it->second.id.empty()) return std::nullopt;
  return it->second.id;
}

std::set<std::string> Workloads::claims_of(const std::string& workload) const {
  const std::scoped_lock lock(mutex_);
  const auto it = claims_of_.find(workload);
  return it == claims_of_.end() ? std::set<std::string>{} : it->second;
}

bool Workloads::has_unknown_claims(const std::string& ns) const {
  const std::scoped_lock lock(mutex_);
  const auto it = namespaces_.find(ns);
  return it != namespaces_.end() && !it->second.unknown.empty();
}

void Workloads::place_consumers(api::ResourceClaim& claim) const {
  const bool is_shared = core::is_shared(claim);
  // One that was made for its pod has no other, on the node of its device.
  if (!is_shared && core::pod_of(claim)) return;
  const std::scoped_lock lock(mutex_);
  const auto known = namespaces_.find(claim.meta.ns);
  if (known == namespaces_.end()) return;
  const auto shared = is_shared ? shared_.find(claim.meta.uid) : shared_.end();
  for (api::ClaimConsumer& consumer : claim.reserved_for) {
    const core::PodFacts* pod = find_pod(known->second.last_read, consumer.uid);
    if (pod != nullptr) consumer.created = pod->meta.creation_time;
    if (shared == shared_.end()) continue;
    const auto placed = shared->second.pods.find(consumer.uid);
    if (placed != shared->second.pods.end()) consumer.node = placed->second.node;
  }
}

std::vector<api::ObjectName> Workloads::shared_on(const std::string& node) const {
  const std::scoped_lock lock(mutex_);
  std::vector<api::ObjectName> names;
  const auto on = shared_on_.find(node);
  if (on == shared_on_.end()) return names;
  for (auto it = on->second.begin(); it != on->second.end(); it = on->second.upper_bound(*it)) {
    if (const auto shared = shared_.find(*it); shared != shared_.end()) {
      names.push_back(shared->second.name);
    }
  }
  return names;
}

std::vector<api::ObjectName> Workloads::shared_in(const std::string& ns) const {
  const std::scoped_lock lock(mutex_);
  std::vector<api::ObjectName> names;
  const auto known = namespaces_.find(ns);
  if (known == namespaces_.end()) return names;
  names.reserve(known->second.shared.size());
  for (const std::string& uid : known->second.shared) names.push_back(shared_.at(uid).name);
  return names;
}

bool Workloads::has_nodeless_consumers(const std::string& ns) const {
  const std::scoped_lock lock(mutex_);
  const auto known = namespaces_.find(ns);
  if (known == namespaces_.end()) return false;
  return std::ranges::any_of(known->second.shared, [&](const std::string& uid) {
    return std::ranges::any_of(shared_.at(uid).pods,
                               [](const auto& pod) { return pod.second.node.empty(); });
  });
}

std::vector<UnreadClaim> Workloads::unread_claims() const {
  const std::scoped_lock lock(mutex_);
  std::vector<UnreadClaim> claims;
  for (const auto& [uid, shared] : shared_) {
    UnreadClaim claim{.uid = uid, .name = shared.name, .pods_seen = {}};
    for (const auto& [pod, consumer] : shared.pods) {
      if (consumer.node.empty()) claim.pods_seen.push_back(consumer.seen);
    }
    if (!claim.pods_seen.empty()) claims.push_back(std::move(claim));
  }
  return claims;
}

std::uint64_t Workloads::moves() const {
  const std::scoped_lock lock(mutex_);
  return moves_;
}

std::shared_ptr<const PodsRead> Workloads::last_read(const std::string& ns) const {
  const std::scoped_lock lock(mutex_);
  const auto known = namespaces_.find(ns);
  return known == namespaces_.end() ? nullptr : known->second.last_read;
}

void Workloads::describe(core::WorkloadsWorld& world) const {
  const std::scoped_lock lock(mutex_);
  for (core::AutomaticClaim& claim : world.claims) {
    const auto it = claims_.find(claim.object.meta.uid);
    if (it == claims_.end()) continue;
    claim.seen = it->second.seen;
    claim.lacks_templates = it->second.lacks_templates;
    claim.pod_seen = it->second.pod_seen;
    // One that a list admits belongs to that list's domain, whatever its pod says by now.
    const auto& workload = it->second.workload;
    const bool is_its_own =
        workload && core::workload_id(world.ns, workload->workload) == it->second.id;
    if (is_its_own) claim.workload = workload;
    claim.is_settled = !it->second.id.empty();
  }
  if (const auto ns = namespaces_.find(world.ns); ns != namespaces_.end()) {
    world.pods_read = ns->second.read_at;
    world.specs_read = ns->second.specs_read;
    world.read_found_workload = ns->second.read_found_workload;
    world.vain_reads = ns->second.vain_reads;
    world.no_read_before = ns->second.no_read_before;
    for (const std::string& uid : ns->second.shared) {
      for (const auto& [pod, consumer] : shared_.at(uid).pods) {
        if (consumer.node.empty()) world.nodeless_since.push_back(consumer.seen);
      }
    }
  }
  for (const api::ComputeDomain& domain : world.domains) {
    const auto known = domains_.find(domain.meta.uid);
    if (known != domains_.end()) world.owners[domain.meta.uid] = known->second.owners;
  }
  for (const core::AutomaticClaim& claim : world.claims) {
    if (!claim.workload) continue;
    const std::string id = core::workload_id(world.ns, claim.workload->workload);
    const auto seen = domains_seen_.find(workload_in(world.ns, id));
    if (seen != domains_seen_.end()) world.domains_seen.emplace(id, seen->second);
    const auto refused = refused_.find(workload_in(world.ns, id));
    if (refused != refused_.end()) world.refusals.emplace(id, refused->second.refusal);
    const auto add_job = [&](const std::string& uid) {
      const auto job = jobs_.find({world.ns, uid});
      if (job != jobs_.end()) world.jobs.emplace(uid, job->second);
    };
    add_job(claim.workload->workload.uid);
    if (claim.workload->witness) add_job(claim.workload->witness->uid);
  }
}

}  // namespace cdom::controller
