#include "sandbox/cluster/node/claim_cache.h"

#include <algorithm>

#include "compute_domain/base/text.h"
#include "sandbox/cluster/part.h"

namespace cdom::sandbox {
namespace {

constexpr char kNotRegistered[] = "DRA driver compute-domain.nvidia.com is not registered";
constexpr char kDeadline[] = "rpc error: code = DeadlineExceeded desc = context deadline exceeded";

}  // namespace

bool ClaimCache::is_overdue(const std::string& pod_uid) {
  const base::Duration now = clock_.elapsed();
  return now >= call_ends_.emplace(pod_uid, now + kCallTimeout).first->second;
}

PrepareStep ClaimCache::fail(const std::string& pod_uid, std::string reason) {
  end_call(pod_uid);
  return {PrepareStep::State::Failed, std::move(reason), {}};
}

void ClaimCache::end_call(const std::string& pod_uid) {
  call_ends_.erase(pod_uid);
  for (auto& [key, entry] : entries_) {
    if (entry.pods.contains(pod_uid)) entry.answer.reset();
  }
}

std::optional<std::string> ClaimCache::add_reference(const std::string& pod_uid,
                                                     const ClaimRef& claim) {
  Entry& entry = entries_[{claim.ns, claim.name}];
  if (entry.claim.uid.empty()) entry.claim = claim;
  if (entry.claim.uid != claim.uid) {
    return base::cat("old ResourceClaim with same name ", claim.name, " and different UID ",
                     entry.claim.uid, " still exists");
  }
  entry.pods.insert(pod_uid);
  return std::nullopt;
}

PrepareStep ClaimCache::prepare(const std::string& pod_uid, const std::vector<ClaimRef>& claims,
                                NodePlugin* plugin) {
  if (plugin == nullptr) return fail(pod_uid, kNotRegistered);
  for (const ClaimRef& claim : claims) {
    if (auto refused = add_reference(pod_uid, claim)) return fail(pod_uid, std::move(*refused));
  }
  const bool is_overdue_now = is_overdue(pod_uid);
  std::optional<std::string> waits_for, failure;
  for (const ClaimRef& claim : claims) {
    Entry& entry = entries_[{claim.ns, claim.name}];
    if (entry.is_prepared) continue;
    // The driver gives each answer once; it answers the call when the last claim has its own.
    if (!entry.answer) {
      PrepareStep step = plugin->prepare(claim);
      if (step.state == PrepareStep::State::Waiting) {
        waits_for = base::cat("ResourceClaim ", claim.name, ": ", step.reason);
        continue;
      }
      entry.answer = std::move(step);
    }
    if (entry.answer->state == PrepareStep::State::Failed && !failure) {
      failure = base::cat("NodePrepareResources failed for ResourceClaim ", claim.name, ": ",
                          entry.answer->reason);
    }
  }
  if (waits_for) {
    if (is_overdue_now) return fail(pod_uid, base::cat("NodePrepareResources: ", kDeadline));
    return {PrepareStep::State::Waiting, std::move(*waits_for), {}};
  }
  if (failure) return fail(pod_uid, std::move(*failure));
  for (const ClaimRef& claim : claims) {
    Entry& entry = entries_[{claim.ns, claim.name}];
    if (entry.answer) entry.devices = std::move(entry.answer->devices);
    entry.is_prepared = true;
  }
  end_call(pod_uid);
  return {PrepareStep::State::Done, {}, devices_of(pod_uid)};
}

PrepareStep ClaimCache::unprepare(const std::string& pod_uid, NodePlugin* plugin) {
  bool is_waiting = false;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    auto& [key, claim] = *entry;
    if (!claim.pods.contains(pod_uid)) {
      ++entry;
      continue;
    }
    if (claim.pods.size() > 1) {
      claim.pods.erase(pod_uid);
      ++entry;
      continue;
    }
    if (plugin == nullptr) return fail(pod_uid, kNotRegistered);
    claim.is_prepared = false;
    claim.answer.reset();
    const PrepareStep step = plugin->unprepare(claim.claim);
    if (step.state == PrepareStep::State::Failed) {
      return fail(pod_uid, base::cat("NodeUnprepareResources failed for ResourceClaim ",
                                     claim.claim.name, ": ", step.reason));
    }
    if (step.state == PrepareStep::State::Waiting) {
      is_waiting = true;
      ++entry;
    } else {
      entry = entries_.erase(entry);
    }
  }
  if (is_waiting) {
    if (is_overdue(pod_uid)) return fail(pod_uid, base::cat("NodeUnprepareResources: ", kDeadline));
    return {};
  }
  end_call(pod_uid);
  return {PrepareStep::State::Done, {}, {}};
}

std::optional<base::Duration> ClaimCache::next_due() const {
  std::optional<base::Duration> due;
  for (const auto& [pod, end] : call_ends_) due = earlier(due, end);
  return due;
}

std::vector<ClaimRef> ClaimCache::claims() const {
  std::vector<ClaimRef> claims;
  for (const auto& [key, entry] : entries_) claims.push_back(entry.claim);
  return claims;
}

std::set<std::string> ClaimCache::pods() const {
  std::set<std::string> uids;
  for (const auto& [key, entry] : entries_) uids.insert(entry.pods.begin(), entry.pods.end());
  return uids;
}

std::vector<std::string> ClaimCache::devices_of(const std::string& pod_uid) const {
  std::vector<std::string> devices;
  for (const auto& [key, entry] : entries_) {
    if (!entry.pods.contains(pod_uid)) continue;
    devices.insert(devices.end(), entry.devices.begin(), entry.devices.end());
  }
  return devices;
}

std::vector<std::string> ClaimCache::devices_of(const std::string& pod_uid,
                                                const std::set<std::string>& claims) const {
  std::vector<std::string> devices;
  for (const auto& [key, entry] : entries_) {
    if (!entry.pods.contains(pod_uid) || !claims.contains(entry.claim.name)) continue;
    devices.insert(devices.end(), entry.devices.begin(), entry.devices.end());
  }
  return devices;
}

void ClaimCache::forget_prepared() {
  for (auto& [key, entry] : entries_) {
    entry.is_prepared = false;
    entry.answer.reset();
  }
  call_ends_.clear();
}

}  // namespace cdom::sandbox
