#include "core/node/daemon/daemon.h"

#include <algorithm>

#include "compute_domain/base/daemon_policy.h"
#include "core/node/daemon/ahead.h"
#include "core/node/daemon/hosts.h"
#include "core/node/daemon/pause.h"
#include "core/node/daemon/peers.h"
#include "core/node/daemon/start_policy.h"

namespace cdom::core {

namespace {

void write_hosts(NodeDraft& draft, const api::NodeList& list) {
  WriteHosts hosts = hosts_of(list, *draft.checkpoint.served, draft.world.self.address);
  if (hosts.revision != draft.world.daemon->hosts_revision) draft.add(std::move(hosts));
}

// The moment at which the daemon may start; nullopt: not before something else has happened.
std::optional<base::Duration> start_moment(const NodeDraft& draft) {
  const NodeWorld& world = draft.world;
  const ServedImexGroup& served = *draft.checkpoint.served;
  const SeenDaemon& daemon = *world.daemon;
  if (has_to_take_back_stopped(world, served)) return std::nullopt;
  base::Duration moment = world.elapsed;
  if (daemon.group == served.group) moment = std::max(moment, daemon.due);
  // A list that has vanished holds nobody back: table and hosts are known from before.
  if (const SeenList* seen = find_seen_list(world, served.group)) {
    moment =
        std::max(moment, world.elapsed +
                             start_delay(seen->stored.list->complete, world.elapsed - seen->changed,
                                         world.elapsed - seen->first_seen, world.times));
  }
  return moment;
}

void start(NodeDraft& draft) {
  ServedImexGroup& served = *draft.checkpoint.served;
  const SeenList* seen = find_seen_list(draft.world, served.group);
  const api::NodeList* list = seen == nullptr ? nullptr : &*seen->stored.list;
  const ServedImexGroup before = served;
  served.started = true;
  // From now on the daemon connects to these by itself.
  if (list != nullptr) served.peers = peers_in(*list, served);
  if (served != before) draft.save_checkpoint();
  if (list != nullptr) write_hosts(draft, *list);
  if (served.forget_importers) {
    draft.add(ForgetImporters{served.group});
    served.forget_importers = false;
    draft.save_checkpoint();
  }
  const api::NodeList table = table_of(served);
  draft.add(StartDaemon{.group = served.group,
                        .slot = served.slot,
                        .table_text = api::table_text(table),
                        .table_hash = api::table_hash(table),
                        .address = draft.world.self.address});
}

void signal(NodeDraft& draft, const SeenList& seen) {
  const NodeWorld& world = draft.world;
  ServedImexGroup& served = *draft.checkpoint.served;
  // A signal that comes before the daemon has its handler ends it.
  if (!world.daemon->answers) return;
  const auto wanted = signal_due(seen, served, *world.daemon);
  if (!wanted) return;
  // It would be sent then, and may not be needed any more.
  const base::Duration due =
      std::max(*wanted, base::DaemonPolicy::next_signal(world.daemon->signalled));
  if (world.elapsed < due) return draft.look_again_at(due);
  draft.add(SignalDaemon{});
  // Only afterwards: a signal too many is harmless, one that is never sent is not.
  served.peers = peers_in(*seen.stored.list, served);
  draft.save_checkpoint();
}

// The slot stays the node's, and the daemon starts in it again.
void rest(NodeDraft& draft) {
  if (!may_run_for(draft.world.daemon, *draft.checkpoint.served)) return;
  if (draft.world.daemon->stopping || draft.held_back(kDaemonSetback) != nullptr) return;
  draft.stop_daemon();
}

}  // namespace

bool has_to_take_back_stopped(const NodeWorld& world, const ServedImexGroup& served) {
  if (served.started) return false;
  // While a report of ours is under way, it is not known what is stored.
  if (!world.report.current) return true;
  return says_stopped(world, served);
}

bool says_stopped(const NodeWorld& world, const ServedImexGroup& served) {
  if (world.maybe_stopped.contains({served.group, served.term})) return true;
  if (world.report.objects.empty()) return false;
  const api::ImexGroupReport* said =
      api::find_group(world.report.objects.front().status, served.group);
  return said != nullptr && said->state == api::DaemonState::Stopped && said->term == served.term;
}

void keep_daemon(NodeDraft& draft) {
  const auto& served = draft.checkpoint.served;
  if (!served || !draft.world.daemon) return;
  const bool stands = is_standing(draft.checkpoint, served->group) && !is_changing_over(draft);
  const bool is_used = has_live_claim(draft.checkpoint, served->group);
  if (!stands && !is_used && !awaits_claims(draft)) return;
  if (!why_resting(draft).empty()) return rest(draft);
  if (draft.world.self.address.empty()) return;  // that it would bind
  if (draft.held_back(kDaemonSetback) != nullptr) return;
  const SeenList* seen = find_seen_list(draft.world, served->group);
  if (is_running_for(draft.world.daemon, *served)) {
    if (seen == nullptr) return;
    write_hosts(draft, *seen->stored.list);
    return signal(draft, *seen);
  }
  if (draft.world.daemon->running || (!is_used && !may_stand(draft.world))) return;
  // Where its peers are then; which of them it dials is not known before it runs.
  if (served->started && !served->forget_importers &&
      starts_again_for(draft.world.daemon, *served)) {
    if (seen != nullptr) write_hosts(draft, *seen->stored.list);
    return;
  }
  const auto moment = start_moment(draft);
  if (!moment) return;
  if (*moment > draft.world.elapsed) return draft.look_again_at(*moment);
  start(draft);
}

}  // namespace cdom::core
