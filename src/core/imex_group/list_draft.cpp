#include "core/imex_group/list_draft.h"

#include <algorithm>
#include <set>

#include "compute_domain/api/names.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/ip_address.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/slots.h"

namespace cdom::core {

namespace {

// The boot in which the node now runs. Either source may lag behind the other; while the two
// disagree, what is on record stays.
std::string current_boot(const NodeView* view, const std::string& on_record) {
  const std::string node = view != nullptr && view->node ? view->node->boot_id : "";
  const std::string report = view != nullptr && view->report ? view->report->status.boot_id : "";
  if (node.empty() && report.empty()) return on_record;
  if (node.empty() || report.empty() || node == report) return node.empty() ? report : node;
  return on_record.empty() ? node : on_record;
}

SlotAssignment slots_of(const ListDraft& draft, std::int64_t slots) {
  const SlotRecords records = recorded_slots(draft.group, draft.before, draft.remembered,
                                             draft.nodes, slots, draft.strangers);
  std::set<std::string> fenced;
  for (const auto& [node, record] : records) {
    const NodeView* view = find_view(draft.nodes, node);
    if (view != nullptr && is_fenced(*view, draft.group, record)) fenced.insert(node);
  }
  std::set<std::string> members;
  for (const auto& [node, seating] : draft.seats) members.insert(node);
  // A clique's daemons run whether or not its list is there.
  const SlotRecords reported =
      draft.serves_members ? reported_slots(draft.group, records, draft.nodes) : SlotRecords();
  return assigned_slots(records, members, fenced, slots, reported);
}

// A report of the daemon's end that came before this says nothing about the next daemon.
bool begins_anew(const ListDraft& draft, const api::NodeListEntry* before,
                 const api::NodeListEntry& entry) {
  if (before == nullptr) return true;
  if (draft.serves_members) return !before->member;
  return std::ranges::any_of(entry.admits, [&](const api::Admission& admission) {
    return std::ranges::find(before->admits, admission) == before->admits.end();
  });
}

api::NodeListEntry entry_of(const ListDraft& draft, const std::string& node,
                            const SlotRecord& record, std::int64_t& last_term) {
  const NodeView* view = find_view(draft.nodes, node);
  const api::NodeListEntry* before = entry_before(draft, node);
  if (before != nullptr && before->slot != record.slot) before = nullptr;

  api::NodeListEntry entry;
  entry.node = node;
  entry.slot = record.slot;
  if (const auto seating = draft.seats.find(node); seating != draft.seats.end()) {
    entry.admits = seating->second.admits;
    entry.member = seating->second.is_member;
  }
  entry.term = record.term;
  entry.boot_id = record.boot_id;
  if (before != nullptr) {
    entry.address = base::peer_address(before->address);
    entry.instance = before->instance;
  }
  if (draft.serves_members ? entry.member : !entry.admits.empty()) {
    if (begins_anew(draft, before, entry)) entry.term = ++last_term;
    // An agent accepts an admission only of the boot that it runs in, so this is the boot in which
    // the slot's daemon runs.
    entry.boot_id = current_boot(view, before != nullptr ? record.boot_id : "");
  }
  return entry;
}

bool is_restless(const NodeView* view) {
  return view != nullptr && view->restless_for > base::Duration::zero();
}

// As the list is to take it: of a restless node it keeps the one that it has.
std::string wanted_address(const NodeView* view, const api::NodeListEntry& entry) {
  return is_restless(view) && !entry.address.empty() ? entry.address : reported_address(view);
}

// A member has the address that it had for as long as its Node is there and it reports no other.
bool holds_address(const ListDraft& draft, const api::NodeListEntry& entry) {
  const api::NodeListEntry* before = entry_before(draft, entry.node);
  if (!entry.member || entry.address.empty() || before == nullptr || !before->member) return false;
  const NodeView* view = find_view(draft.nodes, entry.node);
  if (view == nullptr || !view->node) return false;
  const std::string wanted = wanted_address(view, entry);
  return wanted.empty() || wanted == entry.address;
}

// By what the control plane says of the node: its kubelet is silent, and with it its agent; or a
// person has said that its machine is off. Its pods' addresses may be given to others then.
bool is_lost(const NodeView* view) {
  if (view == nullptr || !view->node) return true;
  const api::Node& node = *view->node;
  const bool is_out = std::ranges::find(node.taints, api::kOutOfServiceTaint, &api::Taint::key) !=
                      node.taints.end();
  if (is_out) return node.ready != api::ConditionStatus::True;
  return node.ready == api::ConditionStatus::Unknown && view->agent && !view->agent->ready;
}

// The control plane says that the node works, so that what its agent has reported holds now; unless
// that was before a reboot.
bool is_up(const NodeView* view) {
  if (view == nullptr || !view->node || !view->report || !view->agent) return false;
  const std::string& boot = view->node->boot_id;
  const std::string& reported = view->report->status.boot_id;
  return view->node->ready == api::ConditionStatus::True && view->agent->ready &&
         (boot.empty() || reported.empty() || boot == reported);
}

// A node that is lost may have gone without its address, which the next pod is given then. No node
// can make another one seem lost, so one that lies takes nothing from a node that works.
bool yields_address(const ListDraft& draft, const std::vector<api::NodeListEntry>& entries,
                    const api::NodeListEntry& holder) {
  if (!is_lost(find_view(draft.nodes, holder.node))) return false;
  return std::ranges::any_of(entries, [&](const api::NodeListEntry& entry) {
    const NodeView* view = find_view(draft.nodes, entry.node);
    return entry.member && is_up(view) && reported_address(view) == holder.address;
  });
}

// No two members have one address: it is of the node that was given it first, and what another one
// reports changes nothing of that while the first one is not lost.
void give_addresses(const ListDraft& draft, std::vector<api::NodeListEntry>& entries) {
  std::set<std::string> given;
  std::vector<api::NodeListEntry*> others;
  for (api::NodeListEntry& entry : entries) {
    const bool holds = holds_address(draft, entry) && !yields_address(draft, entries, entry);
    if (!holds || !given.insert(entry.address).second) others.push_back(&entry);
  }
  const auto rank = [&](const api::NodeListEntry* entry) {
    if (!entry->member) return 2;
    return is_up(find_view(draft.nodes, entry->node)) ? 0 : 1;
  };
  std::ranges::stable_sort(others, {}, rank);
  for (api::NodeListEntry* entry : others) {
    const std::string wanted = wanted_address(find_view(draft.nodes, entry->node), *entry);
    if (!wanted.empty() && !given.contains(wanted)) entry->address = wanted;
    if (given.contains(entry->address)) entry->address.clear();
    if (entry->member) given.insert(entry->address);
  }
}

// The slot of a node that is not a member, whose daemon has ended for good and whose Node is gone:
// no node can come back to it, and its report stays for as long as a list has it. What a status
// still remembers would come back from there, without the term that the report is of.
bool is_abandoned(const ListDraft& draft, const api::NodeListEntry& entry) {
  if (entry.member || !entry.admits.empty()) return false;
  const NodeView* view = find_view(draft.nodes, entry.node);
  if (view == nullptr || view->node) return false;
  if (!is_fenced(*view, draft.group, {entry.slot, entry.boot_id, entry.term})) return false;
  return std::ranges::find(draft.remembered, entry.node, &api::ComputeDomainNodeStatus::name) ==
         draft.remembered.end();
}

}  // namespace

const NodeView* find_view(const NodeViews& nodes, const std::string& node) {
  const auto it = nodes.find(node);
  return it == nodes.end() ? nullptr : &it->second;
}

std::string reported_address(const NodeView* view) {
  if (view == nullptr || !view->report) return "";
  return base::peer_address(view->report->status.address);
}

const api::ImexGroupReport* find_report(const NodeViews& nodes, const std::string& node,
                                        std::string_view group) {
  const NodeView* view = find_view(nodes, node);
  return view != nullptr && view->report ? api::find_group(view->report->status, group) : nullptr;
}

const api::NodeListEntry* entry_before(const ListDraft& draft, const std::string& node) {
  return draft.before == nullptr ? nullptr : find_entry(*draft.before, node);
}

DraftedList drafted_list(const ListDraft& draft) {
  const bool has_fabric = !draft.clique.empty();
  DraftedList drafted;
  api::NodeList& list = drafted.list;
  list.group = draft.group;
  list.clique = draft.clique;
  // The table is fixed for the life of the group, also when the setting changes.
  list.slots = draft.before != nullptr ? draft.before->slots : has_fabric ? draft.slots : 0;
  if (draft.before != nullptr) list.last_term = draft.before->last_term;

  SlotAssignment assignment;
  if (has_fabric) {
    assignment = slots_of(draft, list.slots);
  } else {
    for (const auto& [node, seating] : draft.seats) assignment.slots[node] = {};
  }
  for (const auto& [node, record] : assignment.slots) {
    list.last_term = std::max(list.last_term, record.term);
  }
  for (const auto& [node, record] : assignment.slots) {
    list.entries.push_back(entry_of(draft, node, record, list.last_term));
  }
  std::erase_if(list.entries,
                [&](const api::NodeListEntry& entry) { return is_abandoned(draft, entry); });
  std::ranges::sort(list.entries, {}, [](const api::NodeListEntry& entry) {
    return std::pair(entry.slot, entry.node);
  });
  give_addresses(draft, list.entries);
  drafted.full = std::move(assignment.full);
  return drafted;
}

std::string why_address_refused(const NodeView& view, const api::NodeList& list,
                                const api::NodeListEntry& entry) {
  const std::string said = view.report ? view.report->status.address : "";
  if (said.empty() || !entry.member) return "";
  const std::string address = base::peer_address(said);
  if (address.empty()) {
    return base::cat("it reports the address ", said.substr(0, 64),
                     ", at which no other node reaches its IMEX daemon; see the POD_IP of its "
                     "compute-domain-imex pod");
  }
  if (address == entry.address) return "";
  for (const api::NodeListEntry& other : list.entries) {
    if (other.node == entry.node || !other.member || other.address != address) continue;
    return base::cat("it reports the address ", address, ", which is that of node ", other.node,
                     "; see the POD_IP of the compute-domain-imex pods of both");
  }
  return "";
}

void update_instances(const ListDraft& draft, api::NodeList& list) {
  std::map<std::string, std::string> reported;
  std::set<std::string> missed;
  bool all_have_their_first = true;
  for (const api::NodeListEntry& entry : list.entries) {
    const api::ImexGroupReport* report = find_report(draft.nodes, entry.node, draft.group);
    const bool has_one =
        report != nullptr && report->slot == entry.slot && !report->instance.empty();
    if (has_one) reported[entry.node] = report->instance;
    if (entry.member && (!has_one || !entry.instance.empty())) all_have_their_first = false;
    if (entry.member && report != nullptr) {
      missed.insert(report->unreachable.begin(), report->unreachable.end());
    }
  }
  const bool written_anyway = draft.before == nullptr || *draft.before != list;
  for (api::NodeListEntry& entry : list.entries) {
    const auto it = reported.find(entry.node);
    if (it == reported.end() || it->second == entry.instance) continue;
    if (!entry.instance.empty() && is_restless(find_view(draft.nodes, entry.node))) continue;
    if (!entry.instance.empty() || written_anyway || all_have_their_first ||
        missed.contains(entry.node)) {
      entry.instance = it->second;
    }
  }
}

std::optional<base::Duration> next_rest(const ListDraft& draft, const api::NodeList& list) {
  std::optional<base::Duration> next;
  for (const api::NodeListEntry& entry : list.entries) {
    const NodeView* view = find_view(draft.nodes, entry.node);
    if (!is_restless(view)) continue;
    const std::string address = reported_address(view);
    const api::ImexGroupReport* report = find_report(draft.nodes, entry.node, draft.group);
    const bool has_moved = !address.empty() && address != entry.address;
    const bool has_another = report != nullptr && report->slot == entry.slot &&
                             !report->instance.empty() && report->instance != entry.instance;
    if (has_moved || has_another) next = base::earlier(next, std::optional(view->restless_for));
  }
  return next;
}

bool has_labels_of(const StoredList* stored, const api::ConfigMap& desired) {
  return stored != nullptr && std::ranges::all_of(desired.meta.labels, [&](const auto& label) {
           return stored->meta.labels.contains(label.first) &&
                  stored->meta.label(label.first) == label.second;
         });
}

}  // namespace cdom::core
