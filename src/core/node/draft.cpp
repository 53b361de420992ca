#include "core/node/draft.h"

#include <algorithm>

#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "core/node/daemon/peers.h"

namespace cdom::core {

void NodeDraft::save_checkpoint() {
  // The later of two checkpoints with nothing between them is enough.
  if (!plan.on_node.empty() && std::holds_alternative<WriteCheckpoint>(plan.on_node.back())) {
    plan.on_node.pop_back();
  }
  add(WriteCheckpoint{checkpoint});
}

void NodeDraft::look_again_at(base::Duration moment) {
  const base::Duration after = std::max(moment - world.elapsed, base::Duration::zero());
  if (!plan.look_again || after < *plan.look_again) plan.look_again = after;
}

const Setback* NodeDraft::held_back(const std::string& of) {
  const auto it = world.setbacks.find(of);
  if (it == world.setbacks.end() || it->second.retry_at <= world.elapsed) return nullptr;
  look_again_at(it->second.retry_at);
  return &it->second;
}

bool is_newest_agent(const NodeWorld& world) { return world.checkpoint.agent == world.self.agent; }

const SeenList* find_seen_list(const NodeWorld& world, std::string_view group) {
  const auto it = std::ranges::find_if(world.lists, [&](const SeenList& seen) {
    return seen.stored.list && seen.stored.list->group == group;
  });
  return it == world.lists.end() ? nullptr : &*it;
}

const api::NodeListEntry* own_entry(const NodeWorld& world, const SeenList& list) {
  return list.stored.list ? find_entry(*list.stored.list, world.self.name) : nullptr;
}

bool is_changing_over(const NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  const bool by_channel = world.settings.isolation == api::Isolation::Channel;
  return (draft.fabric.clique && draft.fabric.clique != draft.checkpoint.clique) ||
         (draft.checkpoint.clique && by_channel != draft.checkpoint.by_channel);
}

ServedImexGroup served_by(const api::NodeList& list, const api::NodeListEntry& entry) {
  ServedImexGroup served{.group = list.group,
                         .slots = list.slots,
                         .slot = entry.slot,
                         .term = entry.term,
                         .started = false,
                         .peers = {}};
  served.peers = peers_in(list, served);
  return served;
}

api::NodeList table_of(const ServedImexGroup& served) {
  api::NodeList list;
  list.group = served.group;
  list.slots = served.slots;
  return list;
}

namespace {

bool is_configured_for(const SeenDaemon& daemon, const ServedImexGroup& served) {
  return daemon.group == served.group && daemon.slot == served.slot &&
         daemon.table_hash == api::table_hash(table_of(served));
}

}  // namespace

bool is_running_for(const std::optional<SeenDaemon>& daemon, const ServedImexGroup& served) {
  return daemon && daemon->running && daemon->group == served.group;
}

bool may_run_for(const std::optional<SeenDaemon>& daemon, const ServedImexGroup& served) {
  return daemon && daemon->group == served.group &&
         (daemon->running || may_start_by_itself(*daemon));
}

bool may_run_unknown(const NodeDraft& draft) {
  const auto& daemon = draft.world.daemon;
  if (draft.checkpoint.served) return false;
  if (!daemon) return !draft.world.supervisor_has_ended;
  return !daemon->host_managed && (daemon->running || may_start_by_itself(*daemon));
}

bool starts_again_for(const std::optional<SeenDaemon>& daemon, const ServedImexGroup& served) {
  return daemon && !daemon->running && daemon->starts_again.value_or(false) &&
         is_configured_for(*daemon, served);
}

std::string why_not_ending(const SeenDaemon& daemon) {
  const bool is_stuck = daemon.stopping && daemon.phase == base::DaemonPhase::Failed;
  return is_stuck ? daemon.message : "";
}

bool is_ready_for(const std::optional<SeenDaemon>& daemon, const ServedImexGroup& served) {
  return daemon && daemon->running && !daemon->stopping &&
         daemon->phase == base::DaemonPhase::Ready && is_configured_for(*daemon, served);
}

bool keeps_running(const PreparedClaim& claim, std::string_view group) {
  return claim.group == group && !claim.admin_access &&
         (claim.phase != ClaimPhase::Ending || !claim.held_by.empty());
}

bool has_live_claim(const Checkpoint& checkpoint, std::string_view group) {
  return std::ranges::any_of(checkpoint.claims,
                             [&](const auto& entry) { return keeps_running(entry.second, group); });
}

}  // namespace cdom::core
