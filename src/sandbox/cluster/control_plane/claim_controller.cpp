#include "sandbox/cluster/control_plane/claim_controller.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"

namespace cdom::sandbox {
namespace {

// "<pod>-<entry>-", shortened in proportion so that five random characters still fit a DNS label.
std::string generate_name(std::string pod, std::string entry) {
  constexpr std::size_t kMost = 57;
  if (pod.size() + entry.size() + 2 > kMost) {
    const std::size_t room = kMost - 2;
    const std::size_t for_pod = pod.size() * room / (pod.size() + entry.size());
    pod.resize(std::min(pod.size(), for_pod));
    entry.resize(std::min(entry.size(), room - pod.size()));
  }
  return base::cat(pod, "-", entry, "-");
}

json consumer_of(const json& pod) {
  return {{"resource", "pods"}, {"name", key_of(pod).name}, {"uid", uid_of(pod)}};
}

}  // namespace

ClaimController::ClaimController(const kube::Client& client, const Informers& informers,
                                 const base::Clock& clock, base::Random random)
    : objects_(client),
      pods_(informers.of(kPods)),
      claims_(informers.of(kClaims)),
      templates_(informers.of(kTemplates)),
      recorder_(client, clock, {.component = "resourceclaim-controller", .seed = random.next()}),
      writes_(clock),
      pod_queue_(clock),
      claim_queue_(clock) {
  informers.of(kPods).on_change([this](const Change& change) { see_pod(change); });
  informers.of(kClaims).on_change([this](const Change& change) { see_claim(change); });
  informers.of(kTemplates).on_change([this](const Change& change) {
    const auto waiting = pods_without_template_.find(change.key);
    if (waiting == pods_without_template_.end()) return;
    for (const api::ObjectName& pod : waiting->second) pod_queue_.add(pod);
    pods_without_template_.erase(waiting);
  });
}

void ClaimController::see_pod(const Change& change) {
  pod_queue_.add(change.key);
  const json& pod = change.after ? *change.after : *change.before;
  add_claims_of(pod);
}

void ClaimController::add_claims_of(const json& pod) {
  const std::string ns = key_of(pod).ns;
  for (const PodClaim& claim : pod_claims(pod)) {
    if (claim.claim) claim_queue_.add({ns, *claim.claim});
  }
  const std::string extended = extended_claim_name(pod);
  if (!extended.empty()) claim_queue_.add({ns, extended});
}

void ClaimController::see_claim(const Change& change) {
  claim_queue_.add(change.key);
  const json& claim = change.after ? *change.after : *change.before;
  const std::string owner = controller_uid(claim, "Pod");
  if (owner.empty()) return;
  if (change.after) {
    claims_by_owner_[owner].insert(change.key);
    return;
  }
  const auto known = claims_by_owner_.find(owner);
  if (known == claims_by_owner_.end()) return;
  known->second.erase(change.key);
  if (known->second.empty()) claims_by_owner_.erase(known);
  for (const json& reference : at(claim, "/metadata/ownerReferences")) {
    pod_queue_.add({change.key.ns, text_at(reference, "/name")});
  }
}

bool ClaimController::step() {
  if (recorder_.step()) return true;
  if (!pods_.has_synced() || !claims_.has_synced() || !templates_.has_synced()) return false;
  if (!writes_.all_seen()) return false;
  return sync_next(pod_queue_, [this](const auto& key) { return Synced{sync_pod(key)}; }) ||
         sync_next(claim_queue_, [this](const auto& key) { return Synced{sync_claim(key)}; });
}

std::optional<base::Duration> ClaimController::next_due() const {
  return earlier(earlier(recorder_.next_due(), writes_.next_due()),
                 earlier(pod_queue_.next_due(), claim_queue_.next_due()));
}

bool ClaimController::sync_pod(const api::ObjectName& key) {
  const ObjectPtr pod = pods_.find(key);
  if (!pod) return true;
  if (is_terminal(*pod) || is_deleting(*pod)) {
    add_claims_of(*pod);
    return true;
  }
  if (!ensure_generated(*pod)) return false;
  return reserve_for_bound(*pod);
}

bool ClaimController::ensure_generated(const json& pod) {
  std::map<std::string, std::string> names;
  bool is_news = false;
  for (const PodClaim& wanted : pod_claims(pod)) {
    if (wanted.template_name.empty()) continue;
    auto name = generated_claim(pod, wanted.entry);
    if (!name) {
      const api::ObjectName template_key{key_of(pod).ns, wanted.template_name};
      if (!templates_.find(template_key)) {
        recorder_.record(
            reference_to(kPods, pod), "Warning", "FailedResourceClaimCreation",
            base::cat("PodResourceClaim ", wanted.entry, ": resource claim template \"",
                      wanted.template_name, "\": resourceclaimtemplate.resource.k8s.io \"",
                      wanted.template_name, "\" not found"));
        pods_without_template_[template_key].insert(key_of(pod));
        continue;
      }
      const auto made = generate(pod, wanted);
      if (!made) {
        recorder_.record(reference_to(kPods, pod), "Warning", "FailedResourceClaimCreation",
                         base::cat("PodResourceClaim ", wanted.entry, ": ", made.error().message));
        return false;
      }
      name = *made;
    }
    names[wanted.entry] = *name;
    if (wanted.claim != *name) is_news = true;
  }
  return !is_news || tell_names(pod, names);
}

std::optional<std::string> ClaimController::generated_claim(const json& pod,
                                                            const std::string& entry) const {
  const auto owned = claims_by_owner_.find(uid_of(pod));
  if (owned == claims_by_owner_.end()) return std::nullopt;
  for (const api::ObjectName& key : owned->second) {
    const ObjectPtr claim = claims_.find(key);
    if (!claim || is_deleting(*claim)) continue;
    if (annotation_of(*claim, kPodClaimNameAnnotation) == entry) return key.name;
  }
  return std::nullopt;
}

base::Result<std::string> ClaimController::generate(const json& pod, const PodClaim& wanted) {
  const api::ObjectName key = key_of(pod);
  const ObjectPtr from = templates_.find({key.ns, wanted.template_name});
  json claim{{"metadata", json::object()}, {"spec", at(*from, "/spec/spec")}};
  json& meta = claim["metadata"];
  for (const char* kept : {"labels", "annotations"}) {
    const json& given = at(*from, base::cat("/spec/metadata/", kept));
    if (given.is_object()) meta[kept] = given;
  }
  meta["namespace"] = key.ns;
  meta["generateName"] = generate_name(key.name, wanted.entry);
  meta["annotations"][kPodClaimNameAnnotation] = wanted.entry;
  meta["ownerReferences"] = json::array({{{"apiVersion", "v1"},
                                          {"kind", "Pod"},
                                          {"name", key.name},
                                          {"uid", uid_of(pod)},
                                          {"controller", true},
                                          {"blockOwnerDeletion", true}}});
  auto made = objects_.create(kClaims, claim);
  if (!made) return made.error();
  writes_.note(claims_, *made);
  return key_of(*made).name;
}

bool ClaimController::tell_names(const json& pod, const std::map<std::string, std::string>& names) {
  json statuses = json::array();
  for (const auto& [entry, claim] : names) {
    statuses.push_back({{"name", entry}, {"resourceClaimName", claim}});
  }
  const json patch{{"metadata", {{"uid", uid_of(pod)}}},
                   {"status", {{"resourceClaimStatuses", statuses}}}};
  auto told = objects_.merge_patch(kPods, key_of(pod), patch, "status");
  if (!told) return told.error().kind == base::ErrorKind::NotFound;
  writes_.note(pods_, *told);
  return true;
}

bool ClaimController::reserve_for_bound(const json& pod) {
  if (node_of(pod).empty()) return true;
  for (const PodClaim& used : pod_claims(pod)) {
    if (!used.claim) continue;
    const ObjectPtr claim = claims_.find({key_of(pod).ns, *used.claim});
    if (!claim || is_deleting(*claim) || at(*claim, "/status/allocation").is_null() ||
        is_reserved_for(*claim, uid_of(pod))) {
      continue;
    }
    json reserved = *claim;
    reserved["status"]["reservedFor"].push_back(consumer_of(pod));
    auto written = objects_.update(kClaims, reserved, "status");
    if (!written) return false;
    writes_.note(claims_, *written);
  }
  return true;
}

base::Result<bool> ClaimController::is_valid_consumer(const std::string& ns, const json& consumer) {
  const api::ObjectName key{ns, text_at(consumer, "/name")};
  ObjectPtr pod = pods_.find(key);
  if (!pod) {
    auto live = objects_.get(kPods, key);
    if (!live && live.error().kind != base::ErrorKind::NotFound) return live.error();
    if (!live) return false;
    pod = std::make_shared<const json>(std::move(*live));
  }
  const bool was_never_scheduled = is_deleting(*pod) && node_of(*pod).empty();
  return uid_of(*pod) == text_at(consumer, "/uid") && !is_terminal(*pod) && !was_never_scheduled;
}

bool ClaimController::sync_claim(const api::ObjectName& key) {
  const ObjectPtr claim = claims_.find(key);
  if (!claim) return true;
  json still_reserved = json::array();
  const json& reserved = at(*claim, "/status/reservedFor");
  for (const json& consumer : reserved) {
    if (text_at(consumer, "/resource") != "pods") {
      still_reserved.push_back(consumer);
      continue;
    }
    const auto valid = is_valid_consumer(key.ns, consumer);
    if (!valid) return false;
    if (*valid) still_reserved.push_back(consumer);
  }
  const bool has_allocation = !at(*claim, "/status/allocation").is_null();
  if (still_reserved.size() < reserved.size() ||
      (has_allocation && reserved.empty() && is_deleting(*claim))) {
    return release(*claim, std::move(still_reserved));
  }
  if (!has_allocation && is_deleting(*claim) && has_finalizer(*claim, kClaimFinalizer)) {
    return remove_finalizer(*claim);
  }
  const std::string owner = controller_uid(*claim, "Pod");
  if (owner.empty() || is_deleting(*claim) || !still_reserved.empty()) return true;
  for (const json& reference : at(*claim, "/metadata/ownerReferences")) {
    const ObjectPtr pod = pods_.find({key.ns, text_at(reference, "/name")});
    if (!pod || uid_of(*pod) != owner || !is_terminal(*pod)) continue;
    const auto gone = objects_.remove(kClaims, key, {.uid = uid_of(*claim)});
    if (!gone && gone.error().kind == base::ErrorKind::Unavailable) return false;
  }
  return true;
}

bool ClaimController::release(json claim, json still_reserved) {
  const bool is_free = still_reserved.empty();
  claim["status"]["reservedFor"] = std::move(still_reserved);
  if (is_free) {
    claim["status"].erase("reservedFor");
    claim["status"].erase("allocation");
    claim["status"].erase("devices");
  }
  auto written = objects_.update(kClaims, claim, "status");
  if (!written) {
    return written.error().kind == base::ErrorKind::NotFound;
  }
  writes_.note(claims_, *written);
  return !is_free || remove_finalizer(std::move(*written));
}

bool ClaimController::remove_finalizer(json claim) {
  if (!has_finalizer(claim, kClaimFinalizer)) return true;
  json kept = json::array();
  for (const json& finalizer : claim["metadata"]["finalizers"]) {
    if (finalizer != kClaimFinalizer) kept.push_back(finalizer);
  }
  claim["metadata"]["finalizers"] = std::move(kept);
  auto written = objects_.update(kClaims, claim);
  if (!written) {
    return written.error().kind == base::ErrorKind::NotFound;
  }
  writes_.note(claims_, *written);
  return true;
}

}  // namespace cdom::sandbox
