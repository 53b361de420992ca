#include "sandbox/cluster/control_plane/garbage_collector.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/cluster/node/pod_facts.h"

namespace cdom::sandbox {
namespace {

constexpr char kForeground[] = "foregroundDeletion";
constexpr char kOrphan[] = "orphan";
// Nobody tells of the end of an owner that is not mirrored.
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

GarbageCollector::GarbageCollector(http::Client& client, std::vector<Mirror*> mirrors,
                                   const base::Clock& clock)
    : objects_(client), clock_(clock), mirrors_(std::move(mirrors)), agenda_(clock) {
  for (std::size_t i = 0; i < mirrors_.size(); ++i) {
    mirrors_[i]->on_change([this, i](const Change& change) { see(i, change); });
  }
}

void GarbageCollector::see(std::size_t mirror, const Change& change) {
  if (change.before && change.after && has_same_fate(*change.before, *change.after)) return;
  const Item item{mirror, change.key};
  if (change.before) {
    for (const std::string& uid : owner_uids(*change.before)) {
      const auto known = dependents_.find(uid);
      if (known == dependents_.end()) continue;
      known->second.erase(item);
      if (known->second.empty()) dependents_.erase(known);
      // The owner may have waited for this one.
      for (const json& owner : at(*change.before, "/metadata/ownerReferences")) {
        if (const auto where = mirror_of(owner)) {
          const bool namespaced = mirrors_[*where]->resource().namespaced;
          agenda_.add({*where, {namespaced ? change.key.ns : "", text_at(owner, "/name")}});
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
  if (!owners.empty() || is_deleting(*change.after)) agenda_.add(item);
}

void GarbageCollector::look_at_dependents(const std::string& owner_uid) {
  for (const Item& item : dependents_of(owner_uid)) agenda_.add(item);
}

const std::set<GarbageCollector::Item>& GarbageCollector::dependents_of(
    const std::string& uid) const {
  static const std::set<Item> kNone;
  const auto known = dependents_.find(uid);
  return known == dependents_.end() ? kNone : known->second;
}

bool GarbageCollector::step() {
  const auto item = agenda_.pop();
  if (!item) return false;
  if (sync(*item)) {
    agenda_.forget_failures(*item);
  } else {
    agenda_.retry(*item);
  }
  return true;
}

std::optional<base::Duration> GarbageCollector::next_due() const { return agenda_.next_due(); }

bool GarbageCollector::sync(const Item& item) {
  const ObjectPtr object = mirrors_[item.mirror]->find(item.key);
  if (!object) return true;
  if (is_deleting(*object)) {
    if (has_finalizer(*object, kOrphan)) return orphan_dependents(item, *object);
    if (has_finalizer(*object, kForeground)) return finish_foreground(item, *object);
    return true;
  }
  return collect(item, *object);
}

std::optional<std::size_t> GarbageCollector::mirror_of(const json& reference) const {
  const std::string group = group_of(text_at(reference, "/apiVersion"));
  const std::string kind = text_at(reference, "/kind");
  for (std::size_t i = 0; i < mirrors_.size(); ++i) {
    const Resource& resource = mirrors_[i]->resource();
    if (resource.group == group && resource.kind == kind) return i;
  }
  return std::nullopt;
}

base::Result<GarbageCollector::Owner> GarbageCollector::owner_of(const Item& item,
                                                                 const json& reference) {
  const auto where = mirror_of(reference);
  if (!where) return owner_without_mirror(item, reference);
  if (!mirrors_[*where]->is_synced()) return Owner::Unknown;
  const Mirror& mirror = *mirrors_[*where];
  const std::string api_version = text_at(reference, "/apiVersion");
  if (api_version != mirror.resource().api_version()) {
    const auto served = objects_.read(base::cat("/apis/", api_version));
    if (!served) return is_gone(served.error()) ? base::Result(Owner::Unknown) : served.error();
  }
  // A namespaced owner is looked for in the dependent's own namespace; of a cluster-scoped
  // dependent there is none.
  if (mirror.resource().namespaced && item.key.ns.empty()) return Owner::Absent;
  const ObjectKey key{mirror.resource().namespaced ? item.key.ns : "", text_at(reference, "/name")};
  const std::string uid = text_at(reference, "/uid");
  ObjectPtr owner = mirror.find(key);
  if (!owner || uid_of(*owner) != uid) {
    auto live = objects_.get(mirror.resource(), key);
    if (!live && live.error().kind != base::ErrorKind::NotFound) return live.error();
    if (!live || uid_of(*live) != uid) return Owner::Absent;
    owner = std::make_shared<const json>(std::move(*live));
  }
  const bool waits = is_deleting(*owner) && has_finalizer(*owner, kForeground);
  return waits ? Owner::WaitsForDependents : Owner::Present;
}

base::Result<GarbageCollector::Owner> GarbageCollector::owner_without_mirror(
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
    const Resource resource{group, version, plural, kind, at(known, "/namespaced") == true};
    if (resource.namespaced && item.key.ns.empty()) return Owner::Absent;
    const auto live = objects_.get(
        resource, {resource.namespaced ? item.key.ns : "", text_at(reference, "/name")});
    if (!live && !is_gone(live.error())) return live.error();
    if (!live || uid_of(*live) != text_at(reference, "/uid")) return Owner::Absent;
    agenda_.add_at(item, clock_.elapsed() + kAskAgain);
    return Owner::Present;
  }
  return Owner::Unknown;
}

bool GarbageCollector::collect(const Item& item, const json& object) {
  bool has_waiting = false;
  const json& references = at(object, "/metadata/ownerReferences");
  if (references.empty()) return true;
  for (const json& reference : references) {
    const auto owner = owner_of(item, reference);
    if (!owner) return false;
    if (*owner == Owner::Present || *owner == Owner::Unknown) return true;
    has_waiting = has_waiting || *owner == Owner::WaitsForDependents;
  }
  // The owners were read from the mirror: they may have been taken away since.
  DeleteWish wish{.uid = uid_of(object),
                  .resource_version = text_at(object, "/metadata/resourceVersion")};
  if (has_waiting && !dependents_of(uid_of(object)).empty()) wish.propagation = "Foreground";
  const auto gone = objects_.remove(mirrors_[item.mirror]->resource(), item.key, wish);
  return gone.has_value() || is_gone(gone.error());
}

bool GarbageCollector::finish_foreground(const Item& item, const json& owner) {
  for (const Item& dependent : dependents_of(uid_of(owner))) {
    const ObjectPtr object = mirrors_[dependent.mirror]->find(dependent.key);
    if (!object) continue;
    agenda_.add(dependent);
    for (const json& reference : at(*object, "/metadata/ownerReferences")) {
      const bool blocks = text_at(reference, "/uid") == uid_of(owner) &&
                          at(reference, "/blockOwnerDeletion") == true;
      if (blocks) return true;  // its end brings us back
    }
  }
  return drop_finalizer(item, owner, kForeground);
}

bool GarbageCollector::orphan_dependents(const Item& item, const json& owner) {
  // Absence in a mirror is no proof that nothing depends: the API server's own lists count.
  for (const Mirror* mirror : mirrors_) {
    const Resource& resource = mirror->resource();
    const auto objects = objects_.list(resource, resource.namespaced ? item.key.ns : "");
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
      const auto freed = objects_.merge_patch(resource, key_of(object), patch);
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
  const auto freed = objects_.merge_patch(mirrors_[item.mirror]->resource(), item.key, patch);
  return freed.has_value() || is_gone(freed.error());
}

}  // namespace cdom::sandbox
