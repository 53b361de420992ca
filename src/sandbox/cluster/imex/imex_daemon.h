// Imex::Daemon: the state of one running daemon, shared by imex.cpp and imex_network.cpp.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compute_domain/sandbox/imex.h"
#include "sandbox/cluster/part.h"

namespace cdom::sandbox {

// One entry of the node table, seen from a daemon.
struct Imex::Link {
  ImexLink letter = ImexLink::Never;
  Imex* peer = nullptr;       // while connected
  std::string peer_instance;  // as of the handshake
  std::size_t failures = 0;
  std::optional<base::Duration> attempt_at;
  std::optional<base::Duration> lost_at;  // when the loss of the peer will be noticed

  [[nodiscard]] std::optional<base::Duration> due() const { return earlier(lost_at, attempt_at); }
};

struct Imex::Daemon {
  std::string group;
  Table table;
  std::string instance;
  std::size_t own_index = 0;
  base::Duration boots_at{};
  base::Duration ready_at{};
  ImexState state = ImexState::Initializing;
  bool has_booted = false;
  bool is_hung = false;
  bool is_told_to_stop = false;
  std::optional<base::Duration> last_signal;
  std::set<std::string> awaited;  // importers of an earlier run that have not come back
  std::vector<Link> links;        // by index; the own one stays unused
  std::size_t connected = 0;      // links with a peer
  std::set<std::pair<base::Duration, std::size_t>> agenda;  // when which link has something to do

  [[nodiscard]] bool is_answering() const { return has_booted && !is_hung; }
};

}  // namespace cdom::sandbox
