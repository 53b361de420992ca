#include "triggers.h"

#include <algorithm>
#include <set>

#include "compute_domain/api/names.h"
#include "compute_domain/core/membership.h"

namespace cdom::controller {

namespace {

// What this project decides upon does not differ: a heartbeat, or fields that nobody reads.
bool is_same(const api::Node& a, const api::Node& b) {
  return a.meta.uid == b.meta.uid && a.boot_id == b.boot_id && a.taints == b.taints &&
         a.ready == b.ready;
}

bool is_same(const api::ComputeDomainNode& a, const api::ComputeDomainNode& b) {
  return a.meta.uid == b.meta.uid && a.status == b.status &&
         a.meta.annotation(api::kFencedAnnotation) == b.meta.annotation(api::kFencedAnnotation);
}

// Of all labels and annotations only the clique's are kept (trim).
bool has_other_label(const api::Node* before, const api::Node& after) {
  return before == nullptr || before->meta.labels != after.meta.labels ||
         before->meta.annotations != after.meta.annotations;
}

bool is_status_only(const api::ComputeDomain& a, const api::ComputeDomain& b) {
  return a.spec == b.spec && a.meta.is_deleting() == b.meta.is_deleting() &&
         a.meta.finalizers == b.meta.finalizers;
}

}  // namespace

Triggers::Triggers(const Sources& from, Memory& memory, Add add)
    : from_(from), memory_(memory), add_(std::move(add)) {}

void Triggers::add_domains_of_node(const std::string& node) const {
  std::set<std::string> uids;
  for (const auto& claim : from_.stores.claims.by_index(kByNode, node)) {
    if (const auto uid = core::domain_of(*claim)) uids.insert(*uid);
  }
  for (const auto& map : from_.stores.lists.by_index(kByNode, node)) {
    uids.insert(map->meta.label(api::kDomainLabel));
  }
  for (const std::string& uid : uids) add_(domain_key(uid));
}

void Triggers::on_domain(const api::ComputeDomain* before, const api::ComputeDomain* after) const {
  if (before != nullptr && after != nullptr && before->meta.uid == after->meta.uid &&
      is_status_only(*before, *after)) {
    add_(domain_key(after->meta.uid));
    return;
  }
  if (after != nullptr) add_(domain_key(after->meta.uid));
  // A name that was deleted and made again is another domain.
  if (before != nullptr && (after == nullptr || before->meta.uid != after->meta.uid)) {
    add_(domain_key(before->meta.uid));
  }
}

void Triggers::note_formation(const std::set<std::string>& uids) const {
  for (const std::string& uid : uids) {
    for (const auto& domain : from_.stores.domains.by_index(kByUid, uid)) {
      const bool is_ready = domain->status && domain->status->ready;
      if (!is_ready) memory_.formation_begun(uid, from_.clock.elapsed());
    }
  }
}

void Triggers::on_claim(const api::ResourceClaim* before, const api::ResourceClaim* after) const {
  std::set<std::string> uids;
  for (const api::ResourceClaim* claim : {before, after}) {
    if (claim == nullptr) continue;
    if (const auto uid = core::domain_of(*claim)) uids.insert(*uid);
  }
  if (after != nullptr && after->allocation && !after->reserved_for.empty()) note_formation(uids);
  for (const std::string& uid : uids) add_(domain_key(uid));
  if (after == nullptr) memory_.forget_claim(before->meta.uid);
}

void Triggers::on_template(const api::ResourceClaimTemplate* before,
                           const api::ResourceClaimTemplate* after) const {
  std::set<std::string> uids;
  for (const api::ResourceClaimTemplate* object : {before, after}) {
    if (object == nullptr) continue;
    uids.insert(object->meta.label(api::kDomainLabel));
    // A name taken or freed concerns every domain that wants it.
    const std::string name = api::to_string(api::name_of(object->meta));
    for (const auto& domain : from_.stores.domains.by_index(kByTemplate, name)) {
      uids.insert(domain->meta.uid);
    }
  }
  uids.erase("");
  for (const std::string& uid : uids) add_(domain_key(uid));
}

void Triggers::on_list(const api::ConfigMap* before, const api::ConfigMap* after) const {
  for (const api::ConfigMap* map : {before, after}) {
    if (map == nullptr) continue;
    const std::string uid = map->meta.label(api::kDomainLabel);
    if (uid.empty()) continue;
    add_(group_key({uid, map->meta.label(api::kCliqueLabel)}));
    add_(domain_key(uid));
  }
}

void Triggers::on_report(const api::ComputeDomainNode* before,
                         const api::ComputeDomainNode* after) const {
  if (before != nullptr && after != nullptr && is_same(*before, *after)) return;
  const std::string& node = (after != nullptr ? after : before)->meta.name;
  add_domains_of_node(node);
  if (from_.stores.nodes.get({"", node}) == nullptr) add_(report_key(node));
}

void Triggers::on_node(const api::Node* before, const api::Node* after) const {
  if (from_.settings.labels_nodes && after != nullptr && has_other_label(before, *after)) {
    add_(label_key(after->meta.name));
  }
  if (before != nullptr && after != nullptr && is_same(*before, *after)) return;
  const std::string& node = (after != nullptr ? after : before)->meta.name;
  add_domains_of_node(node);
  if (after == nullptr) {
    add_(report_key(node));
    memory_.forget_node(node);
  }
}

void Triggers::on_slice(const api::ResourceSlice* before, const api::ResourceSlice* after) const {
  if (before != nullptr && after != nullptr && before->devices == after->devices) return;
  const std::string& node = (after != nullptr ? after : before)->node;
  if (node.empty()) return;
  add_domains_of_node(node);
  if (from_.settings.labels_nodes) add_(label_key(node));
}

void Triggers::on_agent(const api::Pod* before, const api::Pod* after) const {
  const std::string& node = (after != nullptr ? after : before)->node;
  if (node.empty()) return;
  const auto pods = from_.stores.agents.by_index(kByNode, node);
  // During an update two agents may share a node; one that is ready is enough.
  const bool ready = std::ranges::any_of(pods, [](const auto& pod) { return pod->ready; });
  if (const auto known = memory_.agent(node); known && known->ready == ready) return;
  std::optional<base::Time> changed;
  for (const auto& pod : pods) {
    if (pod->ready == ready) changed = std::max(changed, pod->ready_changed);
  }
  memory_.agent_seen(node, ready, changed.value_or(from_.clock.now()));
  add_domains_of_node(node);
}

}  // namespace cdom::controller
