// Peers: the members of the served group as this node's daemon has to do with them. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/core/node_world.h"

namespace cdom::core {

// Members other than this node that have an address, by slot.
std::map<std::int64_t, PeerIdentity> peers_in(const api::NodeList& list,
                                              const ServedImexGroup& served);

// From when on SIGUSR1 is worth its price: a peer that the daemon is not connected to has an
// address or an instance that it had not when the daemon last connected to all. A peer of which no
// instance is known has no daemon to connect to yet; one that left is no reason either, and one
// that changes again and again is one ever less often (PeerChanges). nullopt: nobody is a reason.
std::optional<base::Duration> signal_due(const SeenList& seen, const ServedImexGroup& served,
                                         const SeenDaemon& daemon);

// Since when the daemon has been as it is and somebody has needed it. One that ran ahead of its
// claims may have peers that had no reason to run before.
base::Duration needed_since(const NodeWorld& world, const SeenDaemon& daemon);

// How a daemon that is READY stands with the other members.
struct Connections {
  std::set<std::int64_t> connected;      // slots of members
  std::vector<std::string> unreachable;  // not connected for the report's hold or longer, by name
  bool complete = true;                  // every other member is connected
  // Members that were admitted before this node: it is this node that reports the connection with
  // them.
  std::set<std::int64_t> earlier;  // connected
  bool awaits_earlier = false;     // some are neither connected nor unreachable yet
  // When somebody becomes unreachable by time alone.
  std::optional<base::Duration> next;
};
Connections connections_of(const SeenList& seen, const ServedImexGroup& served,
                           const SeenDaemon& daemon, const NodeWorld& world);

}  // namespace cdom::core
