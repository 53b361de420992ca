#include "compute_domain/controller/workloads.h"

#include <utility>

#include "compute_domain/api/names.h"

namespace cdom::controller {

void Workloads::resolve(const std::string& uid, Claim& claim) {
  Namespace& ns = namespaces_[claim.ns];
  if (claim.pod) {
    const auto pod = ns.pods.find(claim.pod->uid);
    if (pod != ns.pods.end()) {
      if (!claim.workload) {
        claim.workload = core::workload_of(pod->second, claim.pod->claim_name);
      }
      claim.lacks_templates = !claim.workload;
      if (!pod->second.meta.is_deleting()) claim.pod_seen = ns.read;
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

void Workloads::claim_seen(const api::ResourceClaim& object, base::Time now) {
  const std::scoped_lock lock(mutex_);
  const auto [it, is_new] = claims_.try_emplace(object.meta.uid);
  Claim& claim = it->second;
  if (!is_new && !claim.ns.empty()) return;
  claim.ns = object.meta.ns;
  claim.pod = core::pod_of(object);
  claim.seen = now;
  if (!claim.pod) claim.workload = core::workload_of(object);
  // What the last reads could not tell says nothing of this one.
  namespaces_[claim.ns].vain_reads = 0;
  resolve(object.meta.uid, claim);
}

void Workloads::claim_admitted(const std::string& uid, const std::string& workload) {
  const std::scoped_lock lock(mutex_);
  Claim& claim = claims_[uid];
  if (claim.id == workload) return;
  if (!claim.id.empty()) claims_of_[claim.id].erase(uid);
  claim.id = workload;
  claims_of_[workload].insert(uid);
  if (!claim.ns.empty()) namespaces_[claim.ns].unknown.erase(uid);
}

void Workloads::forget_claim(const std::string& uid) {
  const std::scoped_lock lock(mutex_);
  const auto node = claims_.extract(uid);
  if (node.empty()) return;
  const Claim& claim = node.mapped();
  if (const auto of = claims_of_.find(claim.id); of != claims_of_.end()) {
    of->second.erase(uid);
    if (of->second.empty()) {
      claims_of_.erase(of);
      domains_seen_.erase(claim.id);
      if (claim.workload) jobs_.erase(claim.workload->workload.uid);
    }
  }
  if (const auto ns = namespaces_.find(claim.ns); ns != namespaces_.end()) {
    ns->second.unknown.erase(uid);
  }
}

void Workloads::pods_read(const std::string& ns, std::vector<core::PodFacts> pods,
                          bool with_templates, base::Time now) {
  const std::scoped_lock lock(mutex_);
  Namespace& known = namespaces_[ns];
  known.pods.clear();
  for (core::PodFacts& pod : pods) {
    core::trim_pod(pod.meta);
    const std::string uid = pod.meta.uid;
    known.pods.emplace(uid, std::move(pod));
  }
  known.read = now;
  known.templates_read = with_templates;
  bool told_something = false;
  for (auto& [uid, claim] : claims_) {
    if (claim.ns != ns) continue;
    const auto was_seen = claim.pod_seen;
    resolve(uid, claim);
    told_something = told_something || claim.pod_seen != was_seen;
  }
  known.vain_reads = told_something ? 0 : known.vain_reads + 1;
}

void Workloads::job_read(const std::string& uid, std::optional<api::Job> job) {
  const std::scoped_lock lock(mutex_);
  jobs_[uid] = std::move(job);
}

void Workloads::domain_seen(const api::ComputeDomain& domain, base::Time now) {
  if (!domain.spec.workload) return;
  const std::scoped_lock lock(mutex_);
  domains_seen_[domain.meta.label(api::kWorkloadLabel)] = now;
  // Needed until the domain is made, and it is.
  jobs_.erase(domain.spec.workload->uid);
  for (const auto& owner : domain.meta.owners) owners_[domain.meta.uid].insert(owner.uid);
}

void Workloads::forget_domain(const api::ComputeDomain& domain) {
  const std::scoped_lock lock(mutex_);
  owners_.erase(domain.meta.uid);
  const std::string workload = domain.meta.label(api::kWorkloadLabel);
  if (!claims_of_.contains(workload)) domains_seen_.erase(workload);
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
    world.pods_read = ns->second.read;
    world.templates_read = ns->second.templates_read;
    world.vain_reads = ns->second.vain_reads;
  }
  for (const api::ComputeDomain& domain : world.domains) {
    const auto owners = owners_.find(domain.meta.uid);
    if (owners != owners_.end()) world.owners[domain.meta.uid] = owners->second;
  }
  for (const core::AutomaticClaim& claim : world.claims) {
    if (!claim.workload) continue;
    const std::string id = core::workload_id(world.ns, claim.workload->workload);
    if (const auto seen = domains_seen_.find(id); seen != domains_seen_.end()) {
      world.domains_seen.insert(*seen);
    }
    const auto job = jobs_.find(claim.workload->workload.uid);
    if (job != jobs_.end()) world.jobs.insert(*job);
  }
}

}  // namespace cdom::controller
