#include <algorithm>
#include <map>
#include <set>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/reconcile.h"
#include "compute_domain/core/slots.h"
#include "compute_domain/core/status.h"
#include "core/pace.h"

namespace cdom::core {

namespace {

using base::cat;

const NodeView* find_view(const NodeViews& nodes, const std::string& node) {
  const auto it = nodes.find(node);
  return it == nodes.end() ? nullptr : &it->second;
}

const api::GroupReport* find_report(const NodeViews& nodes, const std::string& node,
                                    std::string_view group) {
  const NodeView* view = find_view(nodes, node);
  return view != nullptr && view->report ? api::find_group(view->report->status, group) : nullptr;
}

// The boot in which the node now runs. Either source may lag behind the other; while the two
// disagree, what is on record stays.
std::string current_boot(const NodeView* view, const std::string& on_record) {
  const std::string node = view != nullptr && view->node ? view->node->boot_id : "";
  const std::string report = view != nullptr && view->report ? view->report->status.boot_id : "";
  if (node.empty() && report.empty()) return on_record;
  if (node.empty() || report.empty() || node == report) return node.empty() ? report : node;
  return on_record.empty() ? node : on_record;
}

// What the writing of one list works on.
struct Draft {
  const GroupWorld& world;
  std::string group;
  const StoredList* stored = nullptr;         // the object, believed or not
  const api::NodeList* before = nullptr;      // only when it is believed
  std::map<std::string, Membership> members;  // by node, counted or held
};

Draft draft_of(const GroupWorld& world) {
  Draft draft{.world = world, .group = group_id(world.key), .members = {}};
  for (const StoredList& stored : world.lists) {
    if (stored.meta.name == node_list_name(draft.group)) draft.stored = &stored;
  }
  if (draft.stored != nullptr && draft.stored->list) draft.before = &*draft.stored->list;
  for (Membership& member : members_of(world)) draft.members[member.node] = std::move(member);
  return draft;
}

const api::NodeListEntry* entry_before(const Draft& draft, const std::string& node) {
  return draft.before == nullptr ? nullptr : find_entry(*draft.before, node);
}

SlotAssignment slots_of(const Draft& draft, std::int64_t slots) {
  std::vector<api::ComputeDomainNodeStatus> status_of_clique;
  if (draft.world.view.domain->status) {
    for (const auto& status : draft.world.view.domain->status->nodes) {
      if (status.clique == draft.world.key.clique) status_of_clique.push_back(status);
    }
  }
  const SlotRecords records =
      recorded_slots(draft.group, draft.before, status_of_clique, draft.world.nodes, slots);
  std::set<std::string> fenced;
  for (const auto& [node, record] : records) {
    const NodeView* view = find_view(draft.world.nodes, node);
    if (view != nullptr && is_fenced(*view, draft.group, record)) fenced.insert(node);
  }
  std::set<std::string> members;
  for (const auto& [node, member] : draft.members) members.insert(node);
  return assigned_slots(records, members, fenced, slots);
}

// A domain that is being deleted admits nobody new.
std::vector<api::Admission> admissions(const Draft& draft, const std::string& node) {
  const auto member = draft.members.find(node);
  if (member == draft.members.end()) return {};
  const api::NodeListEntry* before = entry_before(draft, node);
  std::vector<api::Admission> admits;
  for (const std::string& uid : member->second.claims) {
    const api::Admission admission{.claim_uid = uid, .channel = 0};
    const bool known =
        before != nullptr && std::ranges::find(before->admits, admission) != before->admits.end();
    if (known || !draft.world.view.domain->meta.is_deleting()) admits.push_back(admission);
  }
  return admits;
}

api::NodeListEntry entry_of(const Draft& draft, const std::string& node, const SlotRecord& record,
                            std::int64_t& last_term) {
  const NodeView* view = find_view(draft.world.nodes, node);
  const api::NodeListEntry* before = entry_before(draft, node);
  if (before != nullptr && before->slot != record.slot) before = nullptr;
  const auto member = draft.members.find(node);

  api::NodeListEntry entry;
  entry.node = node;
  entry.slot = record.slot;
  entry.admits = admissions(draft, node);
  entry.member = member != draft.members.end() && member->second.counted;
  entry.term = record.term;
  entry.boot_id = record.boot_id;
  if (before != nullptr) {
    entry.address = before->address;
    entry.instance = before->instance;
  }
  if (view != nullptr && view->report && !view->report->status.address.empty()) {
    entry.address = view->report->status.address;
  }
  if (!entry.admits.empty()) {
    // A word about the daemon's end that was said before this claim says nothing of the next
    // daemon.
    const bool admits_more =
        std::ranges::any_of(entry.admits, [&](const api::Admission& admission) {
          return before == nullptr ||
                 std::ranges::find(before->admits, admission) == before->admits.end();
        });
    if (admits_more) entry.term = ++last_term;
    // An agent accepts an admission only of the boot that it runs in, so this is the boot in which
    // the slot's daemon runs.
    entry.boot_id = current_boot(view, record.boot_id);
  }
  return entry;
}

// Whether the whole domain has what it waits for: its nodes, and of each an address.
bool is_complete(const Draft& draft, const SlotAssignment& assignment) {
  const GroupWorld& world = draft.world;
  std::int64_t counted = 0;
  for (const Membership& member : memberships_of(world.view, world.nodes, world.lists)) {
    if (!member.counted) continue;
    ++counted;
    const NodeView* view = find_view(world.nodes, member.node);
    const bool addressed = view != nullptr && view->report && !view->report->status.address.empty();
    if (!member.clique || (!member.clique->empty() && !addressed)) return false;
  }
  if (counted == 0 || !assignment.full.empty()) return false;
  if (world.view.domain->spec.num_nodes > 0) return counted >= world.view.domain->spec.num_nodes;
  return std::ranges::none_of(world.view.claims, [&](const api::ResourceClaim& claim) {
    return standing_of(claim, world.view) == Standing::Pending;
  });
}

// An instance is for peers that have to reach its daemon again. It is written when it changed, when
// somebody cannot reach it, when the list is written anyway, and when all members have their first;
// so a formation costs one such write and not one per node.
void update_instances(const Draft& draft, api::NodeList& list) {
  std::map<std::string, std::string> told;
  std::set<std::string> missed;
  bool all_have_their_first = true;
  for (const api::NodeListEntry& entry : list.entries) {
    const api::GroupReport* report = find_report(draft.world.nodes, entry.node, draft.group);
    const bool has_one =
        report != nullptr && report->slot == entry.slot && !report->instance.empty();
    if (has_one) told[entry.node] = report->instance;
    if (entry.member && (!has_one || !entry.instance.empty())) all_have_their_first = false;
    if (entry.member && report != nullptr) {
      missed.insert(report->unreachable.begin(), report->unreachable.end());
    }
  }
  const bool written_anyway = draft.before == nullptr || *draft.before != list;
  for (api::NodeListEntry& entry : list.entries) {
    const auto it = told.find(entry.node);
    if (it == told.end() || it->second == entry.instance) continue;
    if (!entry.instance.empty() || written_anyway || all_have_their_first ||
        missed.contains(entry.node)) {
      entry.instance = it->second;
    }
  }
}

api::NodeList list_of(const Draft& draft) {
  const GroupWorld& world = draft.world;
  const bool has_fabric = !world.key.clique.empty();
  api::NodeList list;
  list.group = draft.group;
  list.clique = world.key.clique;
  // The table is fixed for the life of the group, also when the setting changes.
  list.slots = draft.before != nullptr ? draft.before->slots
               : has_fabric            ? world.settings.slots_per_group
                                       : 0;
  if (draft.before != nullptr) list.last_term = draft.before->last_term;

  SlotAssignment assignment;
  if (has_fabric) {
    assignment = slots_of(draft, list.slots);
  } else {
    for (const auto& [node, member] : draft.members) assignment.slots[node] = {};
  }
  for (const auto& [node, record] : assignment.slots) {
    list.last_term = std::max(list.last_term, record.term);
  }
  for (const auto& [node, record] : assignment.slots) {
    list.entries.push_back(entry_of(draft, node, record, list.last_term));
  }
  std::ranges::sort(list.entries, {}, [](const api::NodeListEntry& entry) {
    return std::pair(entry.slot, entry.node);
  });
  // Once complete it stays so while it has members: daemons that came late do not wait again.
  const bool was_complete = draft.before != nullptr && draft.before->complete &&
                            std::ranges::any_of(list.entries, &api::NodeListEntry::member);
  list.complete = was_complete || is_complete(draft, assignment);
  update_instances(draft, list);
  return list;
}

// The list is not what we wrote, or is gone although the status remembers slots.
std::optional<std::string> what_happened_to(const Draft& draft) {
  if (draft.stored != nullptr && draft.before == nullptr) return draft.stored->problem;
  if (draft.stored != nullptr || !draft.world.view.domain->status) return std::nullopt;
  for (const auto& status : draft.world.view.domain->status->nodes) {
    if (status.clique == draft.world.key.clique && status.index >= 0) return "was deleted";
  }
  return std::nullopt;
}

}  // namespace

Plan reconcile_group(const GroupWorld& world) {
  if (!world.view.domain) return {};
  const api::ComputeDomain& domain = *world.view.domain;
  // Nothing is made that teardown would not find.
  if (!domain.meta.has_finalizer(api::kDomainFinalizer) || world.view.has_predecessor) return {};
  // Refused: its pods may be in any clique, and it asks for one.
  if (domain.spec.workload && api::wants_one_clique(domain)) return {};
  const Draft draft = draft_of(world);
  if (draft.stored == nullptr && domain.meta.is_deleting()) return {};

  const api::NodeList list = list_of(draft);
  if (draft.stored == nullptr && list.entries.empty()) return {};
  const api::ConfigMap desired = config_map_of(list, domain, world.settings);
  const bool same_labels =
      draft.stored != nullptr && std::ranges::all_of(desired.meta.labels, [&](const auto& label) {
        return draft.stored->meta.labels.contains(label.first) &&
               draft.stored->meta.label(label.first) == label.second;
      });
  if (draft.before != nullptr && *draft.before == list && same_labels) return {};

  Plan plan;
  // Claims are allocated one after the other: the next write carries all that came meanwhile. Until
  // the list is complete no daemon starts within this time anyway.
  const bool completes = list.complete && (draft.before == nullptr || !draft.before->complete);
  const base::Duration left = left_of(world.settings.list_interval, world.list_written, world.now);
  if (!completes && left > base::Duration::zero()) {
    plan.look_again = left;
    return plan;
  }
  plan.actions.emplace_back(
      WriteNodeList{draft.stored == nullptr ? api::ObjectMeta{} : draft.stored->meta, desired});
  if (const auto happened = what_happened_to(draft)) {
    plan.actions.emplace_back(
        RecordEvent{reference_to(domain), "Warning", "NodeListRestored",
                    cat("ConfigMap ", api::to_string(api::name_of(desired.meta)), " ", *happened,
                        "; it was written again with the same slots. Leave it to the controller")});
  }
  return plan;
}

}  // namespace cdom::core
