#include "core/node/daemon/peers.h"

#include <algorithm>

#include "compute_domain/base/daemon_policy.h"
#include "compute_domain/core/node_lists.h"
#include "core/node/draft.h"

namespace cdom::core {

namespace {

// When a member that has an address counts as lost, if it is not connected by then. One that has
// never been connected is most likely about to start; a complaint would cost a report of each
// member that is there already. The loss of one that was connected is reported soon, but not while
// this daemon or that one has just started or just got a new address.
base::Duration lost_at(const SeenList& seen, const api::NodeListEntry& entry,
                       const SeenDaemon& daemon, const NodeWorld& world) {
  const NodeTimes& times = world.times;
  base::Duration since = needed_since(world, daemon);
  if (const auto it = seen.member_since.find(entry.node); it != seen.member_since.end()) {
    since = std::max(since, it->second);
  }
  const auto was_connected = daemon.disconnected.find(entry.slot);
  if (was_connected == daemon.disconnected.end()) return since + times.first_contact;
  // A signal to the daemon after the connection broke is no reason to wait.
  const base::Duration broke_off = was_connected->second;
  if (daemon.signalled && *daemon.signalled <= broke_off) {
    since = std::max(since, *daemon.signalled);
  }
  return std::max(since + times.report_hold, broke_off + times.lost_hold);
}

bool has_address(const api::NodeListEntry& entry) { return entry.member && !entry.address.empty(); }

// Whether the daemon of a member is the same, and where it was, in the list before.
bool is_as_before(const SeenList& before, const api::NodeListEntry& entry) {
  const api::NodeListEntry* old =
      before.stored.list ? find_entry(*before.stored.list, entry.node) : nullptr;
  return old != nullptr && has_address(*old) && old->address == entry.address &&
         old->instance == entry.instance;
}

}  // namespace

base::Duration needed_since(const NodeWorld& world, const SeenDaemon& daemon) {
  const bool stands = is_standing(world.checkpoint, daemon.group);
  return stands ? daemon.since : std::max(daemon.since, world.asked_since);
}

std::map<std::string, base::Duration> member_since(const SeenList& before, const StoredList& after,
                                                   base::Duration now) {
  std::map<std::string, base::Duration> since;
  if (!after.list) return since;
  for (const api::NodeListEntry& entry : after.list->entries) {
    if (!has_address(entry)) continue;
    const auto known = before.member_since.find(entry.node);
    const bool is_same = known != before.member_since.end() && is_as_before(before, entry);
    since[entry.node] = is_same ? known->second : now;
  }
  return since;
}

std::map<std::string, PeerChanges> peer_changes(const SeenList& before, const StoredList& after,
                                                base::Duration now) {
  using base::DaemonPolicy;
  std::map<std::string, PeerChanges> changes = before.peer_changes;
  std::erase_if(changes,
                [&](const auto& known) { return now - known.second.due >= DaemonPolicy::kQuiet; });
  if (!before.stored.list || !after.list) return changes;
  for (const api::NodeListEntry& entry : after.list->entries) {
    if (!has_address(entry) || entry.instance.empty() || is_as_before(before, entry)) continue;
    PeerChanges& peer = changes[entry.node];
    // The signal that is due then is for this change, too, and may just be about to go out.
    if (peer.count > 0 && now < peer.due + DaemonPolicy::kSignalInterval) continue;
    peer.due = std::max(now, peer.due + DaemonPolicy::signal_gap(peer.count));
    ++peer.count;
  }
  return changes;
}

std::map<std::int64_t, PeerIdentity> peers_in(const api::NodeList& list,
                                              const ServedImexGroup& served) {
  std::map<std::int64_t, PeerIdentity> peers;
  for (const api::NodeListEntry& entry : list.entries) {
    if (!has_address(entry) || entry.slot == served.slot) continue;
    PeerIdentity& peer = peers[entry.slot] = {entry.address, entry.instance};
    const auto known = served.peers.find(entry.slot);
    if (known == served.peers.end()) continue;
    const PeerIdentity& before = known->second;
    const bool is_same = before.address == peer.address && before.instance == peer.instance;
    if (is_same) peer.later = before.later;
  }
  return peers;
}

std::optional<base::Duration> signal_due(const SeenList& seen, const ServedImexGroup& served,
                                         const SeenDaemon& daemon) {
  if (daemon.host_managed) return std::nullopt;
  std::optional<base::Duration> due;
  const auto peers = peers_in(*seen.stored.list, served);
  for (const api::NodeListEntry& entry : seen.stored.list->entries) {
    if (!has_address(entry) || entry.instance.empty() || entry.slot == served.slot) continue;
    const auto dialled = served.peers.find(entry.slot);
    const bool was_dialled =
        dialled != served.peers.end() && dialled->second == peers.at(entry.slot);
    if (was_dialled || is_connected(daemon, entry.slot)) continue;
    const auto changes = seen.peer_changes.find(entry.node);
    const bool is_quiet = changes == seen.peer_changes.end();
    due = base::earlier(due, is_quiet ? base::Duration::zero() : changes->second.due);
  }
  return due;
}

Connections connections_of(const SeenList& seen, const ServedImexGroup& served,
                           const SeenDaemon& daemon, const NodeWorld& world) {
  Connections connections;
  if (daemon.host_managed) return connections;
  // Compares the terms of one list, so that exactly one of two nodes reports: a node that was
  // dropped and came back has another term there than the one in which it began to serve.
  const api::NodeListEntry* own = own_entry(world, seen);
  const std::int64_t own_term = own != nullptr ? own->term : served.term;
  for (const api::NodeListEntry& entry : seen.stored.list->entries) {
    if (!entry.member || entry.slot == served.slot) continue;
    const bool is_earlier = entry.term < own_term;
    if (is_connected(daemon, entry.slot)) {
      connections.connected.insert(entry.slot);
      if (is_earlier) connections.earlier.insert(entry.slot);
      continue;
    }
    connections.complete = false;
    if (entry.address.empty()) continue;
    const base::Duration due = lost_at(seen, entry, daemon, world);
    if (due <= world.elapsed) {
      connections.unreachable.push_back(entry.node);
    } else {
      connections.next = std::min(connections.next.value_or(due), due);
      connections.awaits_earlier |= is_earlier;
    }
  }
  std::ranges::sort(connections.unreachable);
  return connections;
}

}  // namespace cdom::core
