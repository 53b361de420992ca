#include "core/node/daemon/recovery.h"

#include <algorithm>
#include <vector>

#include "compute_domain/base/text.h"
#include "compute_domain/core/slots.h"

namespace cdom::core {

namespace {

bool is_recovering(const NodeWorld& world, const ServedImexGroup& served) {
  return is_running_for(world.daemon, served) && !world.daemon->host_managed &&
         world.daemon->phase == base::DaemonPhase::Recovering;
}

std::vector<const api::NodeListEntry*> not_connected(const NodeWorld& world,
                                                     const ServedImexGroup& served) {
  std::vector<const api::NodeListEntry*> entries;
  const SeenList* seen = find_seen_list(world, served.group);
  if (seen == nullptr || !world.daemon) return entries;
  for (const api::NodeListEntry& entry : seen->stored.list->entries) {
    if (entry.slot == served.slot || is_connected(*world.daemon, entry.slot)) continue;
    entries.push_back(&entry);
  }
  return entries;
}

// Whether the API server's answer proves that the node's daemon has ended; asks where it is due.
bool has_proven_end(NodeDraft& draft, const std::string& group, const api::NodeListEntry& entry) {
  const NodeWorld& world = draft.world;
  const auto it = world.peers.find(entry.node);
  const PeerReading* reading = it == world.peers.end() ? nullptr : &it->second;
  if (reading != nullptr && !reading->error &&
      is_fenced(reading->view, group,
                {.slot = entry.slot, .boot_id = entry.boot_id, .term = entry.term})) {
    return true;
  }
  const base::Duration interval =
      reading != nullptr && reading->error ? world.times.retry_look_up : world.times.doubt_look_up;
  const base::Duration due = reading == nullptr ? world.elapsed : reading->asked + interval;
  if (world.elapsed >= due) draft.add(LookUpPeer{entry.node});
  draft.look_again_at(std::max(due, world.elapsed + world.times.retry_look_up));
  return false;
}

}  // namespace

std::string awaited_importers(const NodeWorld& world, const ServedImexGroup& served) {
  std::vector<std::string> names;
  for (const api::NodeListEntry* entry : not_connected(world, served)) {
    names.push_back(entry->member ? entry->node : base::cat(entry->node, " (no member any more)"));
  }
  return names.empty() ? "" : base::list_names(names);
}

void end_vain_recovery(NodeDraft& draft) {
  const auto& served = draft.checkpoint.served;
  if (!served || !is_recovering(draft.world, *served) || draft.world.daemon->stopping) return;
  const base::Duration notice = draft.world.daemon->since + draft.world.times.recovery_notice;
  if (draft.world.elapsed < notice) return draft.look_again_at(notice);
  const auto awaited = not_connected(draft.world, *served);
  if (awaited.empty() || std::ranges::any_of(awaited, &api::NodeListEntry::member)) return;
  bool all_ended = true;
  for (const api::NodeListEntry* entry : awaited) {
    all_ended = has_proven_end(draft, served->group, *entry) && all_ended;
  }
  if (!all_ended || draft.held_back(kDaemonSetback) != nullptr) return;
  draft.checkpoint.served->forget_importers = true;
  draft.save_checkpoint();
  draft.stop_daemon();
}

}  // namespace cdom::core
