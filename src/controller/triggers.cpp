#include "triggers.h"

#include <algorithm>
#include <set>

#include "compute_domain/api/names.h"
#include "compute_domain/base/between.h"
#include "compute_domain/core/channels.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/node_pause.h"
#include "compute_domain/core/status.h"

namespace cdom::controller {

namespace {

// What this project decides upon does not differ: a heartbeat, or fields that nobody reads.
bool is_same(const api::Node& a, const api::Node& b) {
  return a.meta.uid == b.meta.uid && a.boot_id == b.boot_id && a.taints == b.taints &&
         a.ready == b.ready && a.meta.is_deleting() == b.meta.is_deleting() &&
         a.meta.label(api::kNodeCliqueLabel) == b.meta.label(api::kNodeCliqueLabel) &&
         a.meta.annotation(api::kNodeCliqueMark) == b.meta.annotation(api::kNodeCliqueMark);
}

// Claims that the list of an automatic domain admits; nobody asks for those of others.
std::set<std::string> admitted_by(const core::StoredList& stored) {
  std::set<std::string> uids;
  if (stored.meta.label(api::kWorkloadLabel).empty()) return uids;
  if (!stored.list) return uids;
  for (const api::NodeListEntry& entry : stored.list->entries) {
    for (const api::Admission& admission : entry.admits) uids.insert(admission.claim_uid);
  }
  return uids;
}

std::set<std::string> nodes_in(const core::StoredList& stored) {
  std::set<std::string> nodes;
  if (!stored.list) return nodes;
  for (const api::NodeListEntry& entry : stored.list->entries) nodes.insert(entry.node);
  return nodes;
}

bool has_free_channel(const core::StoredList* stored, const core::Settings& settings) {
  return stored == nullptr || !stored->list || core::has_free_channel(*stored->list, settings);
}

// What the list of a clique says of one domain.
struct Share {
  std::set<std::string> claims;             // that it admits
  std::vector<api::NodeListEntry> entries;  // of the nodes where it does, with these alone

  friend bool operator==(const Share&, const Share&) = default;
};

std::map<std::string, Share> shares_in(const core::StoredList* stored) {
  std::map<std::string, Share> shares;
  if (stored == nullptr || !stored->list) return shares;
  for (const api::Channel& channel : stored->list->channels) {
    if (channel.release != 0) continue;
    Share& share = shares[channel.domain_uid];
    for (api::NodeListEntry entry : stored->list->entries) {
      std::erase_if(entry.admits, [&](const auto& a) { return a.channel != channel.number; });
      if (entry.admits.empty()) continue;
      for (const api::Admission& admission : entry.admits) share.claims.insert(admission.claim_uid);
      share.entries.push_back(std::move(entry));
    }
  }
  return shares;
}

// Those whose channel containers of the node have had: their end may wait for its word.
std::set<std::string> domains_with_channel(const core::StoredList& stored,
                                           const std::string& node) {
  std::set<std::string> uids;
  if (!stored.list) return uids;
  const api::NodeListEntry* entry = core::find_entry(*stored.list, node);
  if (entry == nullptr) return uids;
  for (const api::Channel& channel : stored.list->channels) {
    const bool is_there = channel.slots.contains(entry->slot);
    if (channel.release == 0 && is_there) uids.insert(channel.domain_uid);
  }
  return uids;
}

bool is_same(const api::ComputeDomainNode& a, const api::ComputeDomainNode& b) {
  return a.meta.uid == b.meta.uid && a.status == b.status &&
         a.meta.annotation(api::kFencedAnnotation) == b.meta.annotation(api::kFencedAnnotation);
}

// Whether it can be believed does not differ.
bool is_as_credible(const api::ComputeDomainNode& a, const api::ComputeDomainNode& b) {
  return a.meta.uid == b.meta.uid && a.stale == b.stale && a.status.boot_id == b.status.boot_id;
}

// Whether it offers seats, and if not, why, does not differ.
bool is_as_fit(const api::ComputeDomainNode* a, const api::ComputeDomainNode* b) {
  return (a == nullptr ? "" : core::lack_of(*a)) == (b == nullptr ? "" : core::lack_of(*b));
}

// The store keeps only the labels and annotations that a decision reads (trim), so any change of
// them counts.
bool has_other_label(const api::Node* before, const api::Node& after) {
  return before == nullptr || before->meta.uid != after.meta.uid ||
         before->meta.labels != after.meta.labels ||
         before->meta.annotations != after.meta.annotations;
}

// Whether a daemon of the node is another one than before, or elsewhere.
bool has_other_daemon(const api::ComputeDomainNodeReport& before,
                      const api::ComputeDomainNodeReport& after) {
  if (!before.address.empty() && before.address != after.address) return true;
  return std::ranges::any_of(before.groups, [&](const api::ImexGroupReport& group) {
    const api::ImexGroupReport* now = api::find_group(after, group.group);
    return now != nullptr && !group.instance.empty() && now->instance != group.instance;
  });
}

bool is_of_same_clique(const api::ComputeDomainNode* a, const api::ComputeDomainNode* b) {
  const auto clique = [](const auto* report) {
    return report == nullptr ? std::nullopt : api::clique_of(report->status);
  };
  return clique(a) == clique(b);
}

bool is_status_only(const api::ComputeDomain& a, const api::ComputeDomain& b) {
  return a.meta.uid == b.meta.uid && a.spec == b.spec &&
         a.meta.is_deleting() == b.meta.is_deleting();
}

// The object that was there is gone, also where its name was made again while nobody watched.
template <class T>
bool is_gone(const T* before, const T* after) {
  return before != nullptr && (after == nullptr || after->meta.uid != before->meta.uid);
}

}  // namespace

Triggers::Triggers(const Sources& from, Memory& memory, Workloads& workloads, Add add)
    : from_(from), memory_(memory), workloads_(workloads), add_(std::move(add)) {}

void Triggers::add_automatic_domains(const std::string& ns) const {
  for (const auto& domain : from_.stores.domains.by_index(kWithPodsIn, ns)) {
    if (domain->spec.workload) add_(domain_key(domain->meta.uid));
  }
}

std::set<std::string> Triggers::domains_of_claim(const api::ResourceClaim& claim) const {
  std::set<std::string> uids;
  const auto workload = workloads_.workload_of(claim.meta.uid);
  if (!workload) return uids;
  const std::string key = workload_in(claim.meta.ns, *workload);
  for (const auto& domain : from_.stores.domains.by_index(kByWorkload, key)) {
    uids.insert(domain->meta.uid);
  }
  return uids;
}

std::set<std::string> Triggers::domains_named_by(const api::ResourceClaim& claim) const {
  core::DomainRef ref = core::domain_ref_of(claim);
  if (ref.kind == core::DomainRef::Kind::Named) return {std::move(ref.uid)};
  return domains_of_claim(claim);
}

void Triggers::on_pods_read(const std::string& ns) const {
  add_automatic_domains(ns);
  for (const auto& domain : from_.stores.domains.by_index(kWithPodsIn, ns)) {
    if (domain->meta.is_deleting()) add_(domain_key(domain->meta.uid));
  }
  const auto shared = workloads_.shared_in(ns);
  if (!shared.empty()) add_placement();
  for (const api::ObjectName& name : shared) {
    const auto claim = from_.stores.claims.get(name);
    if (claim == nullptr) continue;
    for (const std::string& uid : domains_named_by(*claim)) add_(domain_key(uid));
    for (const std::string& node : nodes_of_shared(*claim)) add_agent_label(node);
  }
}

void Triggers::on_recorded(const core::RecordEvent& event) const {
  const auto& involved = event.involved;
  const auto is_there = [&](const auto& store) {
    const auto object = store.get({involved.ns, involved.name});
    return object != nullptr && object->meta.uid == involved.uid;
  };
  const bool is_known = (involved.kind == "ResourceClaim" && is_there(from_.stores.claims)) ||
                        (involved.kind == "ComputeDomainClique" && is_there(from_.stores.cliques));
  if (!is_known) memory_.forget_object(involved.uid);
}

void Triggers::add_placement() const {
  if (from_.stores.domains.has(kByPlacement, kSingle)) add_(placement_key());
  add_waiting();
}

void Triggers::add_waiting() const {
  for (const auto& domain : from_.stores.domains.by_index(kByWaiting, kForSeats)) {
    add_(domain_key(domain->meta.uid));
  }
}

void Triggers::add_domains_of_reservations(const core::StoredList* before,
                                           const core::StoredList* after) const {
  add_(placement_key());
  const core::Reservations was =
      before == nullptr ? core::Reservations{} : core::reservations_in(*before->reservations);
  const core::Reservations is =
      after == nullptr ? core::Reservations{} : core::reservations_in(*after->reservations);
  for (const auto& [uid, reservation] : is.by_domain) {
    const auto it = was.by_domain.find(uid);
    if (it == was.by_domain.end() || it->second != reservation) add_(domain_key(uid));
  }
}

std::set<std::string> Triggers::domains_with_pods_on(const std::string& node) const {
  std::set<std::string> uids;
  for (const auto& claim : from_.stores.claims.by_index(kByNode, node)) {
    uids.merge(domains_named_by(*claim));
  }
  for (const api::ObjectName& name : workloads_.shared_on(node)) {
    if (const auto claim = from_.stores.claims.get(name)) uids.merge(domains_named_by(*claim));
  }
  return uids;
}

void Triggers::add_domains_of_node(const std::string& node) const {
  std::set<std::string> uids = domains_with_pods_on(node);
  for (const auto& map : from_.stores.lists.by_index(kByNode, node)) {
    if (core::is_of_clique(map->meta)) {
      add_(clique_key(map->meta.label(api::kCliqueLabel)));
      uids.merge(domains_with_channel(*map, node));
    } else {
      uids.insert(map->meta.label(api::kDomainLabel));
    }
  }
  if (const auto report = from_.stores.reports.get({"", node})) add_clique_of(*report);
  for (const std::string& uid : uids) add_(domain_key(uid));
}

void Triggers::add_clique_of(const api::ComputeDomainNode& report) const {
  const bool by_channel = report.status.isolation == api::Isolation::Channel;
  if (by_channel && !report.status.clique.empty()) add_(clique_key(report.status.clique));
}

void Triggers::on_change(const api::ComputeDomain* before, const api::ComputeDomain* after) const {
  // Before any key is added: nothing is kept of a domain that has not been seen.
  if (after != nullptr) memory_.domain_seen(after->meta.uid, from_.clock.elapsed());
  // Another controller has made it Ready, and measured that.
  if (after != nullptr && after->status && after->status->ready && !memory_.decides_since()) {
    memory_.formation_ended(after->meta.uid);
  }
  add_clique_objects(before, after);
  const bool is_status = before != nullptr && after != nullptr && is_status_only(*before, *after);
  for (const api::ComputeDomain* domain : {before, after}) {
    if (!is_status && domain != nullptr && api::wants_one_clique(*domain)) add_(placement_key());
  }
  if (after != nullptr) {
    workloads_.domain_seen(*after, from_.clock.elapsed());
    if (before == nullptr && after->spec.workload) {
      for (const auto& map : from_.stores.lists.by_index(kByDomain, after->meta.uid)) {
        if (!core::is_of_clique(map->meta)) continue;
        note_share(after->meta.uid, {}, shares_in(map.get())[after->meta.uid].claims);
      }
    }
    add_(domain_key(after->meta.uid));
    // A namespace that has made a domain, or has given it owners, waits to see that. The label is
    // by what it knows its domain.
    const bool is_seen =
        before != nullptr && before->meta.uid == after->meta.uid &&
        before->meta.owners == after->meta.owners &&
        before->meta.label(api::kWorkloadLabel) == after->meta.label(api::kWorkloadLabel);
    if (after->spec.workload && !is_seen) add_(workloads_key(after->meta.ns));
  }
  // A name that was deleted and made again is another domain.
  if (before == nullptr || (after != nullptr && before->meta.uid == after->meta.uid)) return;
  add_(domain_key(before->meta.uid));
  memory_.forget_domain(before->meta.uid);
  workloads_.forget_domain(*before);
  // Its name, and its workload if it was made for one, may be wanted again.
  const std::string& ns = before->meta.ns;
  if (from_.stores.claims.has(kUnnamedIn, ns)) {
    add_(workloads_key(ns));
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

void Triggers::on_automatic_claim(const api::ResourceClaim* before,
                                  const api::ResourceClaim* after) const {
  const api::ResourceClaim& claim = after != nullptr ? *after : *before;
  if (after != nullptr) workloads_.claim_seen(*after, from_.clock.elapsed());
  const std::set<std::string> uids = domains_of_claim(claim);
  if (after == nullptr) {
    // Before any key is added: a worker that comes at once must not find it there.
    workloads_.forget_claim(claim.meta.uid);
    // What is not known of one that is gone holds no domain any more.
    if (uids.empty()) add_automatic_domains(claim.meta.ns);
  } else if (after->allocation && !after->reserved_for.empty()) {
    note_formation(uids);
  }
  for (const std::string& uid : uids) add_(domain_key(uid));
  if (before == nullptr || uids.empty()) add_(workloads_key(claim.meta.ns));
}

std::set<std::string> Triggers::nodes_of_shared(const api::ResourceClaim& claim) const {
  if (!core::is_shared(claim)) return {};
  api::ResourceClaim placed = claim;
  workloads_.place_consumers(placed);
  std::set<std::string> nodes;
  for (const api::ClaimConsumer& consumer : placed.reserved_for) nodes.insert(consumer.node);
  nodes.erase("");
  return nodes;
}

// The nodes of pods that share a claim are read. One that such a pod leaves keeps its label as long
// as any claim is shared.
void Triggers::note_consumers(const api::ResourceClaim* before,
                              const api::ResourceClaim* after) const {
  if (after == nullptr) return workloads_.forget_consumers(before->meta.uid);
  const std::set<std::string> nodes = nodes_of_shared(*after);
  workloads_.consumers_seen(*after, from_.clock.elapsed());
  for (const std::string& node : nodes_of_shared(*after)) {
    if (!nodes.contains(node)) add_agent_label(node);
  }
  if (workloads_.has_nodeless_consumers(after->meta.ns)) add_(workloads_key(after->meta.ns));
}

void Triggers::on_change(const api::ResourceClaim* before, const api::ResourceClaim* after) const {
  if (after != nullptr && is_gone(before, after)) {
    on_change(before, nullptr);
    before = nullptr;
  }
  std::set<std::string> uids;
  bool was_automatic = false, is_automatic = false;
  for (const api::ResourceClaim* claim : {before, after}) {
    if (claim == nullptr) continue;
    using Kind = core::DomainRef::Kind;
    core::DomainRef ref = core::domain_ref_of(*claim);
    if (ref.kind == Kind::Named) uids.insert(std::move(ref.uid));
    (claim == after ? is_automatic : was_automatic) = ref.kind == Kind::Automatic;
    // It gets one Event about what is wrong with it, and belongs to no workload.
    const bool is_wrong = ref.kind == Kind::Contradictory || ref.kind == Kind::Invalid;
    if (is_wrong && after != nullptr) add_(workloads_key(after->meta.ns));
  }
  note_consumers(before, after);
  if (is_automatic) {
    on_automatic_claim(before, after);
  } else if (was_automatic) {
    // Gone, or allocated from another driver.
    on_automatic_claim(before, nullptr);
  } else if (after == nullptr) {
    workloads_.forget_claim(before->meta.uid);
  }
  if (after != nullptr && after->allocation && !after->reserved_for.empty()) note_formation(uids);
  for (const std::string& uid : uids) add_(domain_key(uid));
  const bool had_seat = before != nullptr && before->allocation;
  const bool has_seat = after != nullptr && after->allocation;
  // A node where a pod uses a shared claim has no free seat.
  const bool is_shared = (before != nullptr && core::is_shared(*before)) ||
                         (after != nullptr && core::is_shared(*after));
  const bool moved = is_shared && (before == nullptr || after == nullptr ||
                                   before->reserved_for != after->reserved_for);
  if (had_seat != has_seat || moved) add_placement();
  add_agent_labels(before, after);
  if (after == nullptr) memory_.forget_object(before->meta.uid);
}

void Triggers::add_agent_label(const std::string& name) const {
  const auto node = from_.stores.nodes.get({"", name});
  if (node == nullptr) return;
  const bool is_at_rest =
      node->meta.labels.contains(api::kAgentNodeLabel) && core::has_gpus(node->meta);
  if (!is_at_rest) add_(agent_label_key(name));
}

void Triggers::add_agent_labels(const api::ResourceClaim* before,
                                const api::ResourceClaim* after) const {
  const bool was_shared = before != nullptr && core::is_shared(*before);
  if (was_shared && (after == nullptr || !core::is_shared(*after))) {
    // Which nodes have used it is not known any more; no other can lose its label by that.
    from_.stores.nodes.for_each([&](const auto& node) {
      if (node->meta.labels.contains(api::kAgentNodeLabel)) add_agent_label(node->meta.name);
    });
    return;
  }
  std::set<std::string> nodes;
  for (const api::ResourceClaim* claim : {before, after}) {
    if (claim == nullptr) continue;
    for (std::string& node : core::nodes_of(*claim)) nodes.insert(std::move(node));
  }
  const bool is_same =
      before != nullptr && after != nullptr && core::nodes_of(*before) == core::nodes_of(*after);
  if (is_same) return;
  for (const std::string& node : nodes) add_agent_label(node);
}

void Triggers::on_change(const api::ResourceClaimTemplate* before,
                         const api::ResourceClaimTemplate* after) const {
  std::set<std::string> uids;
  for (const api::ResourceClaimTemplate* object : {before, after}) {
    if (object == nullptr) continue;
    if (core::placement_of(*object)) add_(placement_key());
    if (const std::string uid = object->meta.label(api::kDomainLabel); !uid.empty()) {
      // What lies in another namespace says nothing of a domain that is there.
      const auto domains = from_.stores.domains.by_index(kByUid, uid);
      const bool may_concern = domains.empty() || domains.front()->meta.ns == object->meta.ns ||
                               from_.settings.adopt_from.contains(object->meta.ns);
      if (may_concern) uids.insert(uid);
    }
    // A name taken or freed concerns every domain that wants it.
    const std::string name = api::to_string(api::name_of(object->meta));
    for (const auto& domain : from_.stores.domains.by_index(kByTemplate, name)) {
      uids.insert(domain->meta.uid);
    }
  }
  const bool may_end_predecessor =
      from_.settings.fills_cliques && !from_.settings.adopt_from.empty();
  for (const std::string& uid : uids) {
    add_(domain_key(uid));
    if (may_end_predecessor) add_(clique_objects_key(uid));
  }
}

// What a list admits belongs to its domain, also when this process has just started and has read
// no pod.
void Triggers::note_admissions(const core::StoredList* before,
                               const core::StoredList* after) const {
  const std::set<std::string> now =
      after == nullptr ? std::set<std::string>{} : admitted_by(*after);
  if (after != nullptr) {
    const std::string workload = after->meta.label(api::kWorkloadLabel);
    for (const std::string& uid : now) workloads_.claim_admitted(uid, workload);
  }
  if (before == nullptr) return;
  for (const std::string& uid : admitted_by(*before)) {
    const bool is_gone = !from_.stores.claims.has(kUnnamedByUid, uid);
    if (is_gone && !now.contains(uid)) workloads_.forget_claim(uid);
  }
}

// While a list is lost, the deletion of a domain whose status has slots in it waits for all of the
// domain's claims; once it is there, for those that it admits.
void Triggers::add_deletions_with_slots_in(const std::string& clique) const {
  for (const auto& domain : from_.stores.domains.by_index(kByDeletion, kDeleting)) {
    if (!domain->status) continue;
    const bool has_slot =
        std::ranges::any_of(domain->status->nodes, [&](const api::ComputeDomainNodeStatus& node) {
          return node.channel > 0 && node.clique == clique;
        });
    if (has_slot) add_(domain_key(domain->meta.uid));
  }
}

// Those that have a claim on a node of the list, with a channel or without.
void Triggers::add_domains_on_nodes_in(const core::StoredList& stored) const {
  std::set<std::string> uids;
  for (const std::string& node : nodes_in(stored)) uids.merge(domains_with_pods_on(node));
  for (const std::string& uid : uids) add_(domain_key(uid));
}

// Adds only the domains of which the list says something new: a clique has many domains.
void Triggers::add_domains_of_clique(const core::StoredList* before,
                                     const core::StoredList* after) const {
  const std::string clique = (after != nullptr ? after : before)->meta.label(api::kCliqueLabel);
  add_(clique_key(clique));
  if (before == nullptr || after == nullptr) add_deletions_with_slots_in(clique);
  // What a domain without a channel waits for; one that is being deleted gets none.
  if (has_free_channel(before, from_.settings) != has_free_channel(after, from_.settings)) {
    for (const core::StoredList* stored : {before, after}) {
      if (stored != nullptr) add_domains_on_nodes_in(*stored);
    }
  }
  std::map<std::string, Share> was = shares_in(before), is = shares_in(after);
  for (const auto& [uid, share] : was) is.try_emplace(uid);
  for (const auto& [uid, share] : is) {
    const Share& old = was[uid];
    note_share(uid, old.claims, share.claims);
    if (old != share) add_(domain_key(uid));
  }
}

void Triggers::note_share(const std::string& domain_uid, const std::set<std::string>& before,
                          const std::set<std::string>& after) const {
  for (const auto& domain : from_.stores.domains.by_index(kByUid, domain_uid)) {
    if (!domain->spec.workload) continue;
    const std::string workload = domain->meta.label(api::kWorkloadLabel);
    for (const std::string& uid : after) workloads_.claim_admitted(uid, workload);
  }
  for (const std::string& uid : before) {
    const bool is_gone = !from_.stores.claims.has(kUnnamedByUid, uid);
    if (is_gone && !after.contains(uid)) workloads_.forget_claim(uid);
  }
}

// The report of a node that is gone stays as long as a list has an entry of it.
void Triggers::add_reports_left(const core::StoredList& before,
                                const core::StoredList* after) const {
  std::set<std::string> nodes = nodes_in(before);
  if (after != nullptr) {
    for (const std::string& node : nodes_in(*after)) nodes.erase(node);
  }
  for (const std::string& node : nodes) {
    if (from_.stores.nodes.get({"", node}) == nullptr) add_(report_key(node));
  }
}

void Triggers::on_change(const core::StoredList* before, const core::StoredList* after) const {
  note_admissions(before, after);
  if (before != nullptr) add_reports_left(*before, after);
  for (const core::StoredList* stored : {before, after}) {
    if (stored == nullptr) continue;
    if (stored->reservations) return add_domains_of_reservations(before, after);
    if (core::is_of_clique(stored->meta)) return add_domains_of_clique(before, after);
    const std::string uid = stored->meta.label(api::kDomainLabel);
    if (uid.empty()) continue;
    // When a list is gone, nothing else may know its group.
    if (after == nullptr) add_(group_key({uid, stored->meta.label(api::kCliqueLabel)}));
    // It comes with its groups.
    add_(domain_key(uid));
  }
}

void Triggers::add_pause(const std::string& name) const {
  const auto node = from_.stores.nodes.get({"", name});
  const auto report = from_.stores.reports.get({"", name});
  if (node == nullptr || report == nullptr) return;
  const bool is_annotated =
      report->meta.annotation(api::kPauseAnnotation) == core::to_text(core::pause_of(*node));
  if (!is_annotated) add_(report_key(name));
}

void Triggers::on_change(const api::ComputeDomainNode* before,
                         const api::ComputeDomainNode* after) const {
  if (after != nullptr) add_pause(after->meta.name);
  const std::string& node = (after != nullptr ? after : before)->meta.name;
  if (before != nullptr && after != nullptr && has_other_daemon(before->status, after->status)) {
    memory_.daemon_changed(node, from_.clock.elapsed());
  }
  const bool is_credible_still =
      before != nullptr && after != nullptr && is_as_credible(*before, *after);
  if (!is_credible_still || from_.stores.nodes.get({"", node}) == nullptr) add_(report_key(node));
  if (!is_as_fit(before, after)) add_waiting();
  // A shared claim has a seat only of a node that is of its clique.
  const bool has_other_clique = !is_of_same_clique(before, after);
  if (has_other_clique && !workloads_.shared_on(node).empty()) add_placement();
  if (before != nullptr && after != nullptr && is_same(*before, *after)) return;
  add_domains_of_node(node);
  add_agent_label(node);
  if (before != nullptr) add_clique_of(*before);
}

void Triggers::add_report(const std::string& node) const {
  if (from_.stores.reports.get({"", node}) != nullptr) add_(report_key(node));
}

void Triggers::on_change(const api::Node* before, const api::Node* after) const {
  if (before == after) return;  // a heartbeat: nothing that is kept of it has changed
  if (after != nullptr && has_other_label(before, *after)) {
    if (from_.settings.labels_nodes) add_(label_key(after->meta.name));
    add_(agent_label_key(after->meta.name));
  }
  if (after != nullptr) add_pause(after->meta.name);
  add_shared_slices_of_label(before, after);
  if (before != nullptr && after != nullptr && is_same(*before, *after)) return;
  const std::string& node = (after != nullptr ? after : before)->meta.name;
  add_domains_of_node(node);
  add_report(node);
  add_placement();
  if (after == nullptr && from_.stores.nodes.get({"", node}) == nullptr) memory_.forget_node(node);
}

void Triggers::add_shared_slices_of_label(const api::Node* before, const api::Node* after) const {
  if (!from_.settings.shares_claims) return;
  std::set<std::string> cliques;
  for (const api::Node* node : {before, after}) {
    if (node != nullptr) cliques.insert(node->meta.label(api::kNodeCliqueLabel));
  }
  // One that has stayed as it was, on a Node that has stayed, brings nothing.
  if (before != nullptr && after != nullptr && cliques.size() == 1) return;
  cliques.erase("");
  for (const std::string& clique : cliques) add_(shared_slice_key(clique));
}

void Triggers::add_shared_slices(const api::ResourceSlice* before,
                                 const api::ResourceSlice* after) const {
  for (const api::ResourceSlice* slice : {before, after}) {
    if (slice == nullptr) continue;
    std::set<std::string> cliques = cliques_of_devices(*slice);
    if (!slice->clique.empty()) cliques.insert(slice->clique);
    for (const std::string& clique : cliques) add_(shared_slice_key(clique));
  }
}

void Triggers::on_change(const api::ResourceSlice* before, const api::ResourceSlice* after) const {
  if (before != nullptr && after != nullptr && before->devices == after->devices &&
      before->clique == after->clique) {
    return;
  }
  if (from_.settings.shares_claims) add_shared_slices(before, after);
  const std::string& node = (after != nullptr ? after : before)->node;
  if (node.empty()) return;
  add_domains_of_node(node);
  add_placement();
  if (from_.settings.labels_nodes) add_(label_key(node));
}

void Triggers::on_change(const api::ComputeDomainClique* before,
                         const api::ComputeDomainClique* after) const {
  const std::string& name = (after != nullptr ? after : before)->meta.name;
  if (is_gone(before, after)) memory_.forget_object(before->meta.uid);
  const std::string uid = core::domain_of_clique_object(name);
  if (!uid.empty()) add_(clique_objects_key(uid));
}

void Triggers::add_clique_objects(const api::ComputeDomain* before,
                                  const api::ComputeDomain* after) const {
  if (!from_.settings.fills_cliques) return;
  const auto nodes_of = [](const api::ComputeDomain* domain) {
    return domain == nullptr || !domain->status ? std::vector<api::ComputeDomainNodeStatus>{}
                                                : domain->status->nodes;
  };
  const bool is_other =
      before == nullptr || after == nullptr || before->meta.uid != after->meta.uid;
  if (!is_other && nodes_of(before) == nodes_of(after)) return;
  for (const api::ComputeDomain* domain : {before, after}) {
    if (domain != nullptr) add_(clique_objects_key(domain->meta.uid));
  }
}

void Triggers::on_change(const api::Pod* before, const api::Pod* after) const {
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
  // The time is of the node's own clock, which may be ahead.
  const base::Time now = from_.clock.now();
  const base::Duration age = base::between(std::min(changed.value_or(now), now), now);
  memory_.agent_seen(node, {.ready = ready, .since = from_.clock.elapsed() - age});
  add_domains_of_node(node);
  add_report(node);
}

}  // namespace cdom::controller
