#include "sandbox/cluster/control_plane/garbage_collector.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/cluster/node/pod_facts.h"

namespace cdom::sandbox {
namespace {

constexpr char kForeground[] = "foregroundDeletion";
constexpr char kOrphan[] = "orphan";
// Nobody tells of the end of an owner that no informer follows.
constexpr base::Duration kAskAgain = std::chrono::seconds(5);

std::string group_of(const std::string& api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string::npos ? "" : api_version.substr(0, slash);
}

std::set<std::string> owner_uids(const json& object) {
  std::set<std::string> uids;
  for (const json& owner : at(object, "/metadata/ownerReferences"))
    uids.insert(text_at(owner, "/uid"));
  return uids;
}

// Nothing changed that matters here.
bool has_same_fate(const json& before, const json& after) {
  for (const char* field : {"/metadata/uid", "/metadata/ownerReferences", "/metadata/finalizers",
                            "/metadata/deletionTimestamp"}) {
    if (at(before, field) != at(after, field)) return false;
  }
  return true;
}

bool is_gone(const base::Error& error) { return error.kind == base::ErrorKind::NotFound; }

}  // namespace

GarbageCollector::GarbageCollector(const kube::Client& client, std::vector<JsonInformer*> informers,
                                   const base::Clock& clock)
    : objects_(client), informers_(std::move(informers)), queue_(clock) {
  for (std::size_t i = 0; i < informers_.size(); ++i) {
    informers_[i]->on_change([this, i](const Change& change) { see(i, change); });
  }
}

void GarbageCollector::see(std::size_t informer, const Change& change) {
  if (change.before && change.after && has_same_fate(*change.before, *change.after)) return;
  const Item item{informer, change.key};
  if (change.before) {
    for (const std::string& uid : owner_uids(*change.before)) {
      const auto known = dependents_.find(uid);
      if (known == dependents_.end()) continue;
      known->second.erase(item);
      if (known->second.empty()) dependents_.erase(known);
      // The owner may have waited for this one.
      for (const json& owner : at(*change.before, "/metadata/ownerReferences")) {
        if (const auto where = informer_of(owner)) {
          const bool namespaced = informers_[*where]->kind().namespaced;
          queue_.add({*where, {namespaced ? change.key.ns : "", text_at(owner, "/name")}});
        }
      }
    }
    const bool is_news = !change.after || uid_of(*change.before) != uid_of(*change.after) ||
                         (is_deleting(*change.after) && !is_deleting(*change.before));
    if (is_news) look_at_dependents(uid_of(*change.before));
  }
  if (!change.after) return;
  const auto owners = owner_uids(*change.after);
  for (const std::string& uid : owners) dependents_[uid].insert(item);
  if (!owners.empty() || is_deleting(*change.after)) queue_.add(item);
}

void GarbageCollector::look_at_dependents(const std::string& owner_uid) {
  for (const Item& item : dependents_of(owner_uid)) queue_.add(item);
}

const std::set<GarbageCollector::Item>& GarbageCollector::dependents_of(
    const std::string& uid) const {
  static const std::set<Item> kNone;
  const auto known = dependents_.find(uid);
  return known == dependents_.end() ? kNone : known->second;
}

bool GarbageCollector::step() {
  return sync_next(queue_, [this](const Item& item) { return sync(item); });
}

std::optional<base::Duration> GarbageCollector::next_due() const { return queue_.next_due(); }

Synced GarbageCollector::sync(const Item& item) {
  const ObjectPtr object = informers_[item.informer]->find(item.key);
  if (!object) return {};
  if (!is_deleting(*object)) return collect(item, *object);
  if (has_finalizer(*object, kOrphan)) return {orphan_dependents(item, *object)};
  if (has_finalizer(*object, kForeground)) return {finish_foreground(item, *object)};
  return {};
}

std::optional<std::size_t> GarbageCollector::informer_of(const json& reference) const {
  const std::string group = group_of(text_at(reference, "/apiVersion"));
  const std::string kind = text_at(reference, "/kind");
  for (std::size_t i = 0; i < informers_.size(); ++i) {
    const api::Kind& known = informers_[i]->kind();
    if (known.group == group && known.kind == kind) return i;
  }
  return std::nullopt;
}

base::Result<GarbageCollector::Owner> GarbageCollector::owner_of(const Item& item,
                                                                 const json& reference) {
  const auto where = informer_of(reference);
  if (!where) return owner_without_informer(item, reference);
  if (!informers_[*where]->has_synced()) return Owner::Unknown;
  const JsonInformer& informer = *informers_[*where];
  const std::string api_version = text_at(reference, "/apiVersion");
  if (api_version != api_version_of(informer.kind())) {
    const auto served = objects_.read(base::cat("/apis/", api_version));
    if (!served) return is_gone(served.error()) ? base::Result(Owner::Unknown) : served.error();
  }
  // A namespaced owner is looked for in the dependent's own namespace; of a cluster-scoped
  // dependent there is none.
  if (informer.kind().namespaced && item.key.ns.empty()) return Owner::Absent;
  const api::ObjectName key{informer.kind().namespaced ? item.key.ns : "",
                            text_at(reference, "/name")};
  const std::string uid = text_at(reference, "/uid");
  ObjectPtr owner = informer.find(key);
  if (!owner || uid_of(*owner) != uid) {
    auto live = objects_.get(informer.kind(), key);
    if (!live && live.error().kind != base::ErrorKind::NotFound) return live.error();
    if (!live || uid_of(*live) != uid) return Owner::Absent;
    owner = std::make_shared<const json>(std::move(*live));
  }
  const bool waits = is_deleting(*owner) && has_finalizer(*owner, kForeground);
  return waits ? Owner::WaitsForDependents : Owner::Present;
}

base::Result<GarbageCollector::Owner> GarbageCollector::owner_without_informer(
    const Item& item, const json& reference) {
  const std::string api_version = text_at(reference, "/apiVersion");
  const std::string group = group_of(api_version);
  // A CustomResourceDefinition's group is a domain name.
  if (group.find('.') == std::string::npos) return Owner::Unknown;
  const auto served = objects_.read(base::cat("/apis/", api_version));
  if (!served) return is_gone(served.error()) ? base::Result(Owner::Unknown) : served.error();
  for (const json& known : at(*served, "/resources")) {
    const std::string plural = text_at(known, "/name");
    const std::string kind = text_at(known, "/kind");
    const bool is_object = plural.find('/') == std::string::npos;
    if (!is_object || kind != text_at(reference, "/kind")) continue;
    const std::string version = api_version.substr(group.size() + 1);
    const bool is_namespaced = at(known, "/namespaced") == true;
    if (is_namespaced && item.key.ns.empty()) return Owner::Absent;
    const auto live = objects_.get({kind, plural, group, is_namespaced, {version}},
                                   {is_namespaced ? item.key.ns : "", text_at(reference, "/name")});
    if (!live && !is_gone(live.error())) return live.error();
    if (!live || uid_of(*live) != text_at(reference, "/uid")) return Owner::Absent;
    return Owner::PresentUnfollowed;
  }
  return Owner::Unknown;
}

Synced GarbageCollector::collect(const Item& item, const json& object) {
  bool has_waiting = false;
  const json& references = at(object, "/metadata/ownerReferences");
  if (references.empty()) return {};
  for (const json& reference : references) {
    const auto owner = owner_of(item, reference);
    if (!owner) return {.is_done = false};
    if (*owner == Owner::PresentUnfollowed) return {.again_after = kAskAgain};
    if (*owner == Owner::Present || *owner == Owner::Unknown) return {};
    has_waiting = has_waiting || *owner == Owner::WaitsForDependents;
  }
  // The owners were read from the informer: they may have been taken away since.
  const api::Precondition if_is{uid_of(object), text_at(object, "/metadata/resourceVersion")};
  api::Deletion how;
  if (has_waiting && !dependents_of(if_is.uid).empty()) {
    how.propagation = api::Deletion::Propagation::Foreground;
  }
  const auto gone = objects_.remove(informers_[item.informer]->kind(), item.key, if_is, how);
  return {gone.has_value() || is_gone(gone.error())};
}

bool GarbageCollector::finish_foreground(const Item& item, const json& owner) {
  for (const Item& dependent : dependents_of(uid_of(owner))) {
    const ObjectPtr object = informers_[dependent.informer]->find(dependent.key);
    if (!object) continue;
    queue_.add(dependent);
    for (const json& reference : at(*object, "/metadata/ownerReferences")) {
      const bool blocks = text_at(reference, "/uid") == uid_of(owner) &&
                          at(reference, "/blockOwnerDeletion") == true;
      if (blocks) return true;  // its end brings us back
    }
  }
  return drop_finalizer(item, owner, kForeground);
}

bool GarbageCollector::orphan_dependents(const Item& item, const json& owner) {
  // Absence in an informer is no proof that nothing depends: the API server's own lists count.
  for (const JsonInformer* informer : informers_) {
    const api::Kind& kind = informer->kind();
    const auto objects = objects_.list(kind, {.ns = kind.namespaced ? item.key.ns : ""});
    // Of a kind that is not served, a CRD that is not there, no object depends on anything.
    if (!objects && is_gone(objects.error())) continue;
    if (!objects) return false;
    for (const json& object : *objects) {
      if (!owner_uids(object).contains(uid_of(owner))) continue;
      json kept = json::array();
      for (const json& reference : at(object, "/metadata/ownerReferences")) {
        if (text_at(reference, "/uid") != uid_of(owner)) kept.push_back(reference);
      }
      const json patch{{"metadata", {{"uid", uid_of(object)}, {"ownerReferences", kept}}}};
      const auto freed = objects_.merge_patch(kind, key_of(object), patch);
      if (!freed && !is_gone(freed.error())) return false;
    }
  }
  return drop_finalizer(item, owner, kOrphan);
}

bool GarbageCollector::drop_finalizer(const Item& item, const json& object,
                                      std::string_view finalizer) {
  json kept = json::array();
  for (const json& known : at(object, "/metadata/finalizers")) {
    if (known != finalizer) kept.push_back(known);
  }
  const json patch{{"metadata",
                    {{"uid", uid_of(object)},
                     {"resourceVersion", text_at(object, "/metadata/resourceVersion")},
                     {"finalizers", kept}}}};
  const auto freed = objects_.merge_patch(informers_[item.informer]->kind(), item.key, patch);
  return freed.has_value() || is_gone(freed.error());
}

}  // namespace cdom::sandbox
