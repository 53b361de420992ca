#include "core/node/daemon/ahead.h"

#include <algorithm>

#include "core/node/claims/admission.h"
#include "core/node/claims/ending.h"
#include "core/node/daemon/daemon.h"
#include "core/node/daemon/pause.h"

namespace cdom::core {

namespace {

// This node's line of the list, where it admits a claim of this boot here; nullptr: it admits none.
const api::NodeListEntry* admitting_entry(const NodeWorld& world, const SeenList& seen) {
  const api::NodeListEntry* entry = own_entry(world, seen);
  if (entry == nullptr || !entry->member || entry->admits.empty()) return nullptr;
  const bool has_slot = entry->slot >= 0 && entry->slot < seen.stored.list->slots;
  const bool counts = has_slot && entry->term > 0 && entry->boot_id == world.self.boot_id;
  return counts ? entry : nullptr;
}

// A claim that kubelet has asked for comes before those that it may ask for.
bool is_in_the_way(const NodeWorld& world, std::string_view group) {
  bool of_this = false, of_another = false;
  for (const WantedClaim& wanted : world.prepares) {
    const auto admitted = admission_of(world, wanted.claim.uid);
    if (!admitted) continue;
    bool& is_wanted = admitted->list->stored.list->group == group ? of_this : of_another;
    is_wanted = true;
  }
  return of_another && !of_this;
}

// Claims may be prepared here of which the checkpoint, which was lost, knows nothing: they have to
// be found first.
bool may_have_lost_claims(const NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  return !world.knows_held || std::ranges::any_of(world.held, [&](const HeldClaim& held) {
    return !draft.checkpoint.claims.contains(held.claim.uid);
  });
}

// Nothing new begins then.
bool is_held_up(const NodeDraft& draft) {
  return is_changing_over(draft) || !why_driver_paused(draft.world).empty();
}

// Whether kubelet may still ask for the claims of the list. A daemon that has ended here in this
// term, or that the report still shows as running, starts again only when kubelet asks.
bool may_come(const NodeDraft& draft, const api::NodeList& list, const api::NodeListEntry& entry) {
  const auto stopped = draft.checkpoint.stopped.find(list.group);
  if (stopped != draft.checkpoint.stopped.end() && stopped->second.term >= entry.term) return false;
  const NodeWorld& world = draft.world;
  if (world.maybe_stopped.contains({list.group, entry.term})) return false;
  if (world.report.objects.empty()) return false;
  const api::ImexGroupReport* said =
      api::find_group(world.report.objects.front().status, list.group);
  return said == nullptr || (said->state == api::DaemonState::Stopped && said->term < entry.term);
}

void leave(NodeDraft& draft) {
  const auto& daemon = draft.world.daemon;
  if (!daemon && !draft.world.supervisor_has_ended) return;
  if (!daemon || may_run_for(daemon, *draft.checkpoint.served)) {
    const bool is_asked = daemon && daemon->stopping;
    if (!is_asked && draft.held_back(kDaemonSetback) == nullptr) draft.stop_daemon();
    // What has ended without its supervisor only has to be kept from starting again.
    if (daemon || !draft.stops_daemon) return;
  }
  remember_stopped(draft.checkpoint);
  draft.save_checkpoint();
}

void begin(NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  if (draft.checkpoint.by_channel || is_held_up(draft) || !world.report.current) return;
  if (!world.daemon || world.daemon->running || world.daemon->host_managed) return;
  // One that starts by itself is another group's, or will be taken over.
  if (base::may_start_by_itself(*world.daemon) || may_have_lost_claims(draft)) return;
  if (draft.held_back(kDaemonSetback) != nullptr) return;
  for (const SeenList& seen : world.lists) {
    const api::NodeListEntry* entry = admitting_entry(world, seen);
    if (entry == nullptr || is_in_the_way(world, seen.stored.list->group)) continue;
    const api::NodeList& list = *seen.stored.list;
    if (!list.complete || has_claims(draft.checkpoint, list.group)) continue;
    if (!may_come(draft, list, *entry)) continue;
    draft.checkpoint.served = served_by(list, *entry);
    draft.checkpoint.stopped.erase(list.group);
    return draft.save_checkpoint();
  }
}

}  // namespace

bool awaits_claims(const NodeDraft& draft) {
  const auto& served = draft.checkpoint.served;
  if (!is_ahead(draft.checkpoint) || is_held_up(draft)) return false;
  if (is_in_the_way(draft.world, served->group)) return false;
  const SeenList* seen = find_seen_list(draft.world, served->group);
  if (seen == nullptr) return !draft.world.lists_synced;
  const api::NodeListEntry* entry = admitting_entry(draft.world, *seen);
  // After a node list was lost its terms may start from 1 again.
  return entry != nullptr && entry->slot == served->slot && entry->term >= served->term;
}

void serve_ahead(NodeDraft& draft) {
  auto& served = draft.checkpoint.served;
  if (!served) return begin(draft);
  if (!is_ahead(draft.checkpoint)) return;
  if (!awaits_claims(draft)) return leave(draft);
  const SeenList* seen = find_seen_list(draft.world, served->group);
  if (seen == nullptr || own_entry(draft.world, *seen)->term <= served->term) return;
  served->term = own_entry(draft.world, *seen)->term;
  draft.save_checkpoint();
}

}  // namespace cdom::core
