#include <algorithm>
#include <set>

#include "compute_domain/api/names.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/channels.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/reconcile.h"
#include "compute_domain/core/slots.h"
#include "core/imex_group/list_draft.h"
#include "core/pace.h"

namespace cdom::core {

namespace {

using base::cat;

// A domain of the clique, with what it has there.
struct Tenant {
  const DomainView* view = nullptr;
  std::vector<Membership> members;  // in this clique, by channel
};

bool may_begin(const DomainView& view) {
  if (!view.domain || view.has_predecessor || view.domain->meta.is_deleting()) return false;
  if (view.domain->spec.workload && api::wants_one_clique(*view.domain)) return false;
  // Nothing is begun that teardown would not find.
  return view.domain->meta.has_finalizer(api::kDomainFinalizer);
}

// By UID.
std::map<std::string, Tenant> tenants_of(const CliqueWorld& world) {
  std::map<std::string, Tenant> tenants;
  for (const DomainView& view : world.domains) {
    std::vector<StoredList> lists;
    if (const auto it = world.lists_of_domains.find(view.uid); it != world.lists_of_domains.end()) {
      lists = it->second;
    }
    if (world.list) lists.push_back(*world.list);
    Tenant tenant{.view = &view, .members = memberships_of(view, world.nodes, lists)};
    const ImexGroupKey here{"", world.clique};
    std::erase_if(tenant.members, [&](const Membership& member) {
      return !member.clique || group_of(view.uid, member) != here;
    });
    tenants.emplace(view.uid, std::move(tenant));
  }
  return tenants;
}

// The node reports it, and there is such a Node.
bool says_it_is_of(const NodeView& view, const std::string& clique) {
  return view.node && view.report && view.report->status.isolation == api::Isolation::Channel &&
         api::clique_of(view.report->status) == clique;
}

// Slots and channels in the clique that domains know of: the list may be lost.
std::vector<api::ComputeDomainNodeStatus> remembered_of(const CliqueWorld& world) {
  std::vector<api::ComputeDomainNodeStatus> remembered;
  for (const DomainView& view : world.domains) {
    if (!view.domain || !view.domain->status) continue;
    for (const auto& status : view.domain->status->nodes) {
      if (status.clique == world.clique && status.channel > 0) remembered.push_back(status);
    }
  }
  return remembered;
}

bool has_list(const CliqueWorld& world) { return world.list && world.list->list; }

// A node joins only when somebody else than its agent says that it is of the clique, which writes
// report and ResourceSlice: the label of its Node, or what was given to it before.
bool is_attested(const CliqueWorld& world,
                 const std::vector<api::ComputeDomainNodeStatus>& remembered,
                 const std::string& node, const NodeView& view) {
  if (view.node && confirmed_clique(view.node->meta) == world.clique) return true;
  if (has_list(world)) {
    const api::NodeListEntry* before = find_entry(*world.list->list, node);
    return before != nullptr && before->member;
  }
  return std::ranges::find(remembered, node, &api::ComputeDomainNodeStatus::name) !=
         remembered.end();
}

// Nodes of which nobody but their agents says that they are of the clique, and which the list has
// not. Of a Node that is gone nobody can say, and its daemon may run on.
std::set<std::string> strangers_of(const CliqueWorld& world) {
  const auto remembered = remembered_of(world);
  std::set<std::string> strangers;
  for (const auto& [node, view] : world.nodes) {
    if (!view.node || is_attested(world, remembered, node, view)) continue;
    const bool is_listed = has_list(world) && find_entry(*world.list->list, node) != nullptr;
    if (!is_listed) strangers.insert(node);
  }
  return strangers;
}

ListDraft draft_of(const CliqueWorld& world, const std::set<std::string>& strangers) {
  ListDraft draft{.nodes = world.nodes,
                  .group = group_id({"", world.clique}),
                  .clique = world.clique,
                  .slots = world.settings.slots_per_group,
                  .seats = {},
                  .strangers = strangers,
                  .remembered = remembered_of(world),
                  .serves_members = true};
  if (world.list) draft.stored = &*world.list;
  if (has_list(world)) draft.before = &*world.list->list;
  for (const auto& [node, view] : world.nodes) {
    if (says_it_is_of(view, world.clique) && is_attested(world, draft.remembered, node, view)) {
      draft.seats[node].is_member = true;
    }
  }
  return draft;
}

bool is_admitted(const ListDraft& draft, const std::string& node, const std::string& claim) {
  const api::NodeListEntry* before = entry_before(draft, node);
  return before != nullptr && std::ranges::find(before->admits, claim,
                                                &api::Admission::claim_uid) != before->admits.end();
}

// Calls `act` with each claim that has a seat in the list, or not yet.
template <class Act>
void for_each_claim(const ListDraft& draft, const std::map<std::string, Tenant>& tenants,
                    bool is_known, const Act& act) {
  for (const auto& [uid, tenant] : tenants) {
    for (const Membership& member : tenant.members) {
      if (!draft.seats.contains(member.node)) continue;
      for (const std::string& claim : member.claims) {
        if (is_admitted(draft, member.node, claim) == is_known) act(tenant, member.node, claim);
      }
    }
  }
}

void admit(ListDraft& draft, const std::map<std::string, Tenant>& tenants, Channels& channels) {
  const auto give = [&](const Tenant& tenant, const std::string& node, const std::string& claim,
                        bool is_known) {
    const auto number = channels.of(tenant.view->uid, node, is_known);
    if (number) draft.seats[node].admits.push_back({.claim_uid = claim, .channel = *number});
  };
  for_each_claim(draft, tenants, true,
                 [&](const auto& tenant, const auto& node, const auto& claim) {
                   give(tenant, node, claim, true);
                 });
  // What comes must not fill the object: then nothing could be written into it any more.
  std::optional<ListRoom> room;
  for_each_claim(draft, tenants, false,
                 [&](const auto& tenant, const auto& node, const auto& claim) {
                   if (!may_begin(*tenant.view)) return;
                   if (!room) {
                     api::NodeList list = drafted_list(draft).list;
                     channels.write_to(list);
                     room.emplace(list);
                   }
                   if (room->take(claim, !channels.has(tenant.view->uid),
                                  api::to_string(api::name_of(tenant.view->domain->meta))))
                     give(tenant, node, claim, false);
                 });
  for (auto& [node, seating] : draft.seats) std::ranges::sort(seating.admits);
}

// Whether no daemon of the group runs any more, nor may any start.
bool has_ended(const ListDraft& draft, const api::NodeList& list) {
  return std::ranges::all_of(list.entries, [&](const api::NodeListEntry& entry) {
    const NodeView* view = find_view(draft.nodes, entry.node);
    return !entry.member && entry.admits.empty() && view != nullptr &&
           is_fenced(*view, draft.group, {entry.slot, entry.boot_id, entry.term});
  });
}

// Some domain has what it waits for: its pods wait for this write.
bool completes(const std::map<std::string, Tenant>& tenants, const api::NodeList* before) {
  return std::ranges::any_of(tenants, [&](const auto& entry) {
    const Tenant& tenant = entry.second;
    if (!tenant.view->domain || tenant.members.empty()) return false;
    std::int64_t counted = 0;
    bool has_new = false;
    for (const Membership& member : tenant.members) {
      if (member.counted) ++counted;
      const api::NodeListEntry* known =
          before == nullptr ? nullptr : find_entry(*before, member.node);
      for (const std::string& claim : member.claims) {
        has_new |= known == nullptr ||
                   std::ranges::find(known->admits, claim, &api::Admission::claim_uid) ==
                       known->admits.end();
      }
    }
    if (!has_new) return false;
    const std::int64_t wanted = tenant.view->domain->spec.num_nodes;
    if (wanted > 0) return counted >= wanted;
    return std::ranges::none_of(tenant.view->claims, [&](const api::ResourceClaim& claim) {
      return waits_for_nodes(claim, *tenant.view);
    });
  });
}

}  // namespace

Plan reconcile_clique(const CliqueWorld& world) {
  const std::set<std::string> strangers = strangers_of(world);
  ListDraft draft = draft_of(world, strangers);
  const std::map<std::string, Tenant> tenants = tenants_of(world);
  Channels channels(world, strangers);
  admit(draft, tenants, channels);
  api::NodeList list = drafted_list(draft).list;
  channels.write_to(list);

  Plan plan;
  plan.look_again = channels.next_proof();
  if (draft.stored == nullptr && list.entries.empty()) return plan;
  const bool is_in_use = std::ranges::any_of(
      list.channels, [](const api::Channel& channel) { return channel.release == 0; });
  if (draft.before != nullptr && !is_in_use && channels.released().empty() &&
      has_ended(draft, list)) {
    plan.actions.emplace_back(RemoveNodeList{draft.stored->meta});
    return plan;
  }
  list.complete = false;  // that a daemon waits for: nodes come whenever they come
  update_instances(draft, list);
  plan.look_again = base::earlier(plan.look_again, next_rest(draft, list));
  const api::ConfigMap desired = config_map_of(list, world.settings);
  if (draft.before != nullptr && *draft.before == list && has_labels_of(draft.stored, desired)) {
    return plan;
  }
  const base::Duration left = left_of(world.settings.list_interval, world.list_written, world.now);
  if (!completes(tenants, draft.before) && left > base::Duration::zero()) {
    plan.look_again = std::min(plan.look_again.value_or(left), left);
    return plan;
  }
  // A domain that the cache does not show may exist.
  for (const std::string& uid : channels.released())
    plan.actions.emplace_back(EnsureDomainGone{uid});
  plan.actions.emplace_back(
      WriteNodeList{draft.stored == nullptr ? api::ObjectMeta{} : draft.stored->meta, desired});
  return plan;
}

}  // namespace cdom::core
