#include "core/node/boot.h"

#include <algorithm>
#include <set>

#include "core/node/claims/ending.h"

namespace cdom::core {

bool has_rebooted(const NodeWorld& world) {
  return !world.checkpoint.boot_id.empty() && world.checkpoint.boot_id != world.self.boot_id;
}

void forget_earlier_boot(NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  if (draft.held_back(kDaemonSetback) != nullptr) return;
  // The disk may have lost what the checkpoint said last, and have kept a file.
  std::set<std::string> uids;
  for (const auto& [uid, claim] : draft.checkpoint.claims) uids.insert(uid);
  for (const HeldClaim& held : world.held) uids.insert(held.claim.uid);
  for (const std::string& uid : uids) {
    // A file that cannot be removed names a claim that nobody has any more.
    if (!world.setbacks.contains(uid)) draft.add(RemoveCdi{uid});
  }
  const bool was_served = draft.checkpoint.served.has_value();
  if (was_served && is_running_for(world.daemon, *draft.checkpoint.served)) draft.add(StopDaemon{});
  draft.checkpoint = {};
  draft.checkpoint.agent = world.checkpoint.agent;
  draft.checkpoint.boot_id = world.self.boot_id;
  draft.save_checkpoint();
}

void serve_clique(NodeDraft& draft) {
  Checkpoint& checkpoint = draft.checkpoint;
  const std::optional<std::string>& now = draft.fabric.clique;
  if (!now || !is_changing_over(draft)) return;
  const auto& daemon = draft.world.daemon;
  const bool in_use =
      !checkpoint.claims.empty() || checkpoint.served || (daemon && daemon->running);
  if (checkpoint.clique && in_use) return;
  checkpoint.boot_id = draft.world.self.boot_id;
  checkpoint.clique = now;
  checkpoint.by_channel = draft.world.settings.isolation == api::Isolation::Channel;
  draft.save_checkpoint();
}

namespace {

// What the daemon's group was last said to be, in this boot.
const api::ImexGroupReport* said_of(const NodeWorld& world, const std::string& group) {
  if (world.report.objects.empty()) return nullptr;
  const api::ComputeDomainNodeReport& report = world.report.objects.front().status;
  return report.boot_id == world.self.boot_id ? api::find_group(report, group) : nullptr;
}

// The claims for which the daemon runs: those of the last report that kubelet has not unprepared
// since, and those whose channels were injected. Their devices are not known; a Prepare finds them
// again.
std::map<std::string, PreparedClaim> claims_found(const NodeDraft& draft,
                                                  const std::string& group) {
  std::vector<HeldClaim> found = draft.world.held;
  if (const api::ImexGroupReport* said = said_of(draft.world, group)) {
    for (const std::string& uid : said->claims) {
      if (!draft.checkpoint.let_go.contains(uid)) found.push_back({{"", "", uid}, {}});
    }
  }
  std::map<std::string, PreparedClaim> claims;
  for (const HeldClaim& held : found) {
    claims.try_emplace(held.claim.uid, PreparedClaim{.claim = held.claim,
                                                     .phase = ClaimPhase::Completed,
                                                     .group = group,
                                                     .channels = held.channels,
                                                     .devices = {},
                                                     .admin_access = false});
  }
  return claims;
}

// Whether it is known that no claim of the daemon's is prepared here: it ran ahead of them.
bool has_no_claims(const NodeDraft& draft, const std::map<std::string, PreparedClaim>& found) {
  const NodeWorld& world = draft.world;
  const std::string& group = world.daemon->group;
  const bool is_named = std::ranges::any_of(
      draft.checkpoint.claims, [&](const auto& claim) { return claim.second.group == group; });
  return !group.empty() && found.empty() && !is_named && world.knows_held && world.report.current &&
         world.lists_synced && !world.daemon->host_managed &&
         !draft.checkpoint.stopped.contains(group);
}

// There is nothing left to take over.
void forget_let_go(NodeDraft& draft) {
  if (draft.checkpoint.let_go.empty() || may_run_unknown(draft)) return;
  draft.checkpoint.let_go.clear();
  draft.save_checkpoint();
}

}  // namespace

void take_over_daemon(NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  forget_let_go(draft);
  if (draft.checkpoint.served || !world.daemon || !world.daemon->running) return;
  const SeenDaemon& daemon = *world.daemon;
  if (draft.checkpoint.stopped.contains(daemon.group)) return;  // it is stopped again
  std::map<std::string, PreparedClaim> claims = claims_found(draft, daemon.group);
  const bool stands = is_standing(draft.checkpoint, daemon.group);
  const bool was_ahead = !stands && has_no_claims(draft, claims);
  const SeenList* seen = find_seen_list(world, daemon.group);
  if (seen == nullptr || api::table_hash(*seen->stored.list) != daemon.table_hash) {
    const bool is_asked = daemon.stopping || draft.held_back(kDaemonSetback) != nullptr;
    if (was_ahead && !is_asked) draft.stop_daemon();
    return;
  }
  if (claims.empty() && !stands && !was_ahead) return;

  const api::ImexGroupReport* said = said_of(world, daemon.group);
  const api::NodeListEntry* entry = own_entry(world, *seen);
  draft.checkpoint.served = ServedImexGroup{.group = daemon.group,
                                            .slots = seen->stored.list->slots,
                                            .slot = daemon.slot,
                                            .term = said != nullptr    ? said->term
                                                    : entry != nullptr ? entry->term
                                                                       : 0,
                                            .started = true,
                                            .peers = {}};
  draft.checkpoint.claims.merge(claims);
  draft.save_checkpoint();
}

namespace {

void leave_standing_group(NodeDraft& draft) {
  Checkpoint& checkpoint = draft.checkpoint;
  const ServedImexGroup& served = *checkpoint.served;
  const bool is_used = std::ranges::any_of(
      checkpoint.claims, [&](const auto& claim) { return claim.second.group == served.group; });
  if (is_used || !draft.world.daemon) return;
  if (may_run_for(draft.world.daemon, served)) {
    if (!draft.world.daemon->stopping && draft.held_back(kDaemonSetback) == nullptr) {
      draft.stop_daemon();
    }
    return;
  }
  remember_stopped(checkpoint);
  draft.save_checkpoint();
}

}  // namespace

void serve_standing_group(NodeDraft& draft) {
  Checkpoint& checkpoint = draft.checkpoint;
  auto& served = checkpoint.served;
  if (served && !is_standing(checkpoint, served->group)) return;
  if (served && is_changing_over(draft)) return leave_standing_group(draft);
  if (!checkpoint.by_channel || is_changing_over(draft)) return;
  for (const SeenList& seen : draft.world.lists) {
    const api::NodeListEntry* entry = own_entry(draft.world, seen);
    if (entry == nullptr || !entry->member || !is_standing(checkpoint, seen.stored.list->group)) {
      continue;
    }
    if (entry->boot_id != draft.world.self.boot_id) continue;
    const api::NodeList& list = *seen.stored.list;
    if (!served && entry->slot >= 0 && entry->slot < list.slots) {
      served = served_by(list, *entry);
    } else if (!served || served->term >= entry->term) {
      continue;
    } else {
      served->term = entry->term;
    }
    checkpoint.stopped.erase(list.group);
    draft.save_checkpoint();
  }
}

}  // namespace cdom::core
