#include <algorithm>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/reconcile.h"
#include "compute_domain/core/status.h"
#include "core/imex_group/list_draft.h"
#include "core/pace.h"

namespace cdom::core {

namespace {

using base::cat;

// A watch that is later than this is waited for no more.
constexpr base::Duration kLatestWatch = std::chrono::seconds(30);

// A domain that is being deleted admits nobody new.
std::vector<api::Admission> admissions(const World& world, const Membership& member,
                                       const api::NodeListEntry* before) {
  std::vector<api::Admission> admits;
  for (const std::string& uid : member.claims) {
    const api::Admission admission{.claim_uid = uid, .channel = 0};
    const bool known =
        before != nullptr && std::ranges::find(before->admits, admission) != before->admits.end();
    if (known || !world.view.domain->meta.is_deleting()) admits.push_back(admission);
  }
  return admits;
}

ListDraft draft_of(const World& world, const ImexGroupKey& key) {
  ListDraft draft{.nodes = world.nodes,
                  .group = group_id(key),
                  .clique = key.clique,
                  .slots = world.settings.slots_per_group,
                  .seats = {},
                  .remembered = {}};
  for (const StoredList& stored : world.lists) {
    if (stored.meta.name == node_list_name(draft.group)) draft.stored = &stored;
  }
  if (draft.stored != nullptr && draft.stored->list) draft.before = &*draft.stored->list;
  for (const Membership& member : members_of(world, key)) {
    draft.seats[member.node] = {member.counted,
                                admissions(world, member, entry_before(draft, member.node))};
  }
  if (world.view.domain->status) {
    for (const auto& status : world.view.domain->status->nodes) {
      // One with a channel remembers the slot of another group.
      if (status.clique == key.clique && status.channel == 0) {
        draft.remembered.push_back(status);
      }
    }
  }
  return draft;
}

// Whether the whole domain has what it waits for: its nodes, and of each an address.
bool is_complete(const World& world, bool all_have_slots) {
  std::int64_t counted = 0;
  for (const Membership& member : memberships_of(world.view, world.nodes, world.lists)) {
    if (!member.counted) continue;
    ++counted;
    const bool addressed = !reported_address(find_view(world.nodes, member.node)).empty();
    if (!member.clique || (!member.clique->empty() && !addressed)) return false;
  }
  if (counted == 0 || !all_have_slots) return false;
  if (world.view.domain->spec.num_nodes > 0) return counted >= world.view.domain->spec.num_nodes;
  return std::ranges::none_of(world.view.claims, [&](const api::ResourceClaim& claim) {
    return waits_for_nodes(claim, world.view);
  });
}

api::NodeList list_of(const World& world, const ListDraft& draft) {
  DraftedList drafted = drafted_list(draft);
  api::NodeList& list = drafted.list;
  list.domain = api::to_string(api::name_of(world.view.domain->meta));
  // Once complete it stays so while it has members: daemons that came late do not wait again.
  const bool was_complete = draft.before != nullptr && draft.before->complete &&
                            std::ranges::any_of(list.entries, &api::NodeListEntry::member);
  list.complete = was_complete || is_complete(world, drafted.full.empty());
  update_instances(draft, list);
  return std::move(list);
}

// The list is not what we wrote, or is gone although the status remembers slots.
std::optional<std::string> what_happened_to(const ListDraft& draft) {
  if (draft.stored != nullptr && draft.before == nullptr) return draft.stored->problem;
  if (draft.stored != nullptr) return std::nullopt;
  for (const auto& status : draft.remembered) {
    if (status.index >= 0) return "was deleted";
  }
  return std::nullopt;
}

// Whether a member that was not admitted before is all that is new: what else has changed, the
// peers wait for.
bool only_admits_more(const ListDraft& draft, const api::NodeList& list) {
  if (draft.before != nullptr) {
    for (const api::NodeListEntry& before : draft.before->entries) {
      const api::NodeListEntry* now = find_entry(list, before.node);
      if (now == nullptr) return false;
      api::NodeListEntry same = *now;
      // A first instance is written with whatever comes.
      if (before.instance.empty()) same.instance.clear();
      if (!before.admits.empty() && same != before) return false;
    }
  }
  return std::ranges::any_of(list.entries, [&](const api::NodeListEntry& entry) {
    const api::NodeListEntry* before = entry_before(draft, entry.node);
    return !entry.admits.empty() && (before == nullptr || before->admits.empty());
  });
}

// A digest of the nodes with admitted claims.
std::uint64_t digest_of(const api::NodeList& list) {
  std::string text;
  for (const api::NodeListEntry& entry : list.entries) {
    if (!entry.admits.empty()) text += cat(entry.node, "\n");
  }
  return base::fnv1a64(text);
}

// How long a list that is not complete still waits for those who are about to come: each write of
// it goes to the agents of all members, and no daemon starts for it within this time anyway.
base::Duration hold_of(const World& world, const HeldList* held, bool has_changed) {
  const Settings& settings = world.settings;
  if (held == nullptr) return settings.arrivals_pause;
  const base::Duration most = left_of(settings.longest_hold, held->since, world.now);
  return std::min(most, has_changed ? settings.arrivals_pause
                                    : left_of(settings.arrivals_pause, held->changed, world.now));
}

// In which cliques a node has slots is found in the lists that the watch has shown. So a domain has
// no more first writes that it has not shown yet than nodes: else each clique that a node makes up
// would become a list while the watch is late. How long the next one waits.
base::Duration wait_of_first_write(const World& world, const ImexGroupKey& key) {
  const auto nodes = std::ranges::count_if(memberships_of(world.view, world.nodes, world.lists),
                                           &Membership::counted);
  std::int64_t unseen = 0;
  base::Duration wait = kLatestWatch;
  for (const auto& [group, when] : world.lists_written) {
    const base::Duration left = left_of(kLatestWatch, when, world.now);
    const std::string name = node_list_name(group_id(group));
    const bool is_seen = std::ranges::any_of(
        world.lists, [&](const StoredList& stored) { return stored.meta.name == name; });
    if (group == key || is_seen || left == base::Duration::zero()) continue;
    ++unseen;
    wait = std::min(wait, left);
  }
  return unseen < std::max<std::int64_t>(nodes, 1) ? base::Duration::zero() : wait;
}

}  // namespace

Plan reconcile_group(const World& world, const ImexGroupKey& key) {
  if (!world.view.domain) return {};
  const api::ComputeDomain& domain = *world.view.domain;
  // Nothing is made that teardown would not find.
  if (!domain.meta.has_finalizer(api::kDomainFinalizer) || world.view.has_predecessor) return {};
  // Refused: its pods may be in any clique, and it asks for one.
  if (domain.spec.workload && api::wants_one_clique(domain)) return {};
  const ListDraft draft = draft_of(world, key);
  if (draft.stored == nullptr && domain.meta.is_deleting()) return {};

  const api::NodeList list = list_of(world, draft);
  if (draft.stored == nullptr && list.entries.empty()) return {};
  const api::ConfigMap desired = config_map_of(list, domain, world.settings);
  Plan plan;
  plan.look_again = next_rest(draft, list);
  if (draft.before != nullptr && *draft.before == list && has_labels_of(draft.stored, desired)) {
    return plan;
  }
  if (draft.stored == nullptr) {
    if (const base::Duration wait = wait_of_first_write(world, key);
        wait > base::Duration::zero()) {
      plan.look_again = wait;
      return plan;
    }
  }
  const auto happened = what_happened_to(draft);
  // Without a fabric no daemon is waited for.
  const bool may_wait = !list.complete && !key.clique.empty() && domain.spec.num_nodes > 0;
  if (may_wait && !happened && only_admits_more(draft, list)) {
    const std::uint64_t digest = digest_of(list);
    const auto known = world.lists_held.find(key);
    const HeldList* held = known == world.lists_held.end() ? nullptr : &known->second;
    const bool has_changed = held == nullptr || held->digest != digest;
    if (const base::Duration hold = hold_of(world, held, has_changed);
        hold > base::Duration::zero()) {
      if (has_changed) plan.holds_list = digest;
      plan.look_again = hold;
      return plan;
    }
  }
  // Claims are allocated one after the other: the next write carries all that came meanwhile. Until
  // the list is complete no daemon starts within this time anyway.
  const bool completes = list.complete && (draft.before == nullptr || !draft.before->complete);
  const auto written = world.lists_written.find(key);
  const base::Duration left =
      left_of(world.settings.list_interval,
              written == world.lists_written.end() ? std::nullopt : std::optional(written->second),
              world.now);
  if (!completes && left > base::Duration::zero()) {
    plan.look_again = left;
    return plan;
  }
  plan.actions.emplace_back(
      WriteNodeList{draft.stored == nullptr ? api::ObjectMeta{} : draft.stored->meta, desired});
  if (happened) {
    plan.actions.emplace_back(
        event_on(reference_to(domain), "NodeListRestored",
                 cat("ConfigMap ", api::to_string(api::name_of(desired.meta)), " ", *happened,
                     "; it was written again with the same slots. Leave it to the controller")));
  }
  return plan;
}

}  // namespace cdom::core
