// DaemonStatus: the node's IMEX daemon, as its supervisor reports it. A value.
//
// The supervisor fills it, the socket carries it, and the node's decisions read it: there is no
// other picture of the daemon.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/base/clock.h"

namespace cdom::base {

enum class DaemonPhase {
  Stopped,     // no daemon, and none is wanted
  Starting,    // runs, has not said READY
  Recovering,  // waits for importers of an earlier run
  Ready,
  Failed,  // ended by itself, hangs or could not be started; the message says which
};
// "ready".
std::string_view name_of(DaemonPhase phase);

// Something that the node lacks, by the supervisor's own look at it.
struct NodeLack {
  std::string reason;   // the name of a row of core/reasons.h
  std::string message;  // for people, with the remedy
  // What that row says, for an agent that does not have it: the condition, and whether the node's
  // pods would fail.
  std::string type = {};
  bool is_blocking = false;
  friend bool operator==(const NodeLack&, const NodeLack&) = default;
};

struct DaemonStatus {
  DaemonPhase phase = DaemonPhase::Stopped;
  bool running = false;
  bool stopping = false;  // was asked to stop
  // It is the host's own, and only asked, in the name of the group. Whom it is connected to is not
  // known.
  bool host_managed = false;
  // While it does not run: whether its supervisor starts it by itself, with what it was last
  // started with. nullopt: an earlier version, which does not say.
  std::optional<bool> starts_again;
  std::string group, table_hash;  // of the last start; "" when there was none in this boot
  std::int64_t slot = -1;
  std::string instance;               // a new one at each start
  bool answers = false;               // the control tool has had an answer from this instance
  std::string message;                // of Failed
  std::string hosts_revision;         // of the hosts file, "" when ours is not there
  std::optional<Duration> signalled;  // when this instance got SIGUSR1 last, on Clock::elapsed()
  // Connection letters of the peers, by slot: C connected, A authenticating, N never connected, R
  // recovering, D disconnected, I invalid, V and M version and node map mismatch (IMEX guide).
  std::map<std::int64_t, char> peers;
  // The address of the supervisor's pod, which its daemons bind; "" when the supervisor does not
  // know it.
  std::string address;
  // Why no daemon could be started now: the driver's files or devices are not there. "" when one
  // could, or when one runs.
  std::string cannot_start;
  // Whether NVML is not asked, by request; nullopt: an earlier version, which cannot be asked.
  std::optional<bool> driver_paused;
  // Besides `cannot_start`; nullopt: nobody has looked yet, or an earlier version, which never
  // does.
  std::optional<std::vector<NodeLack>> lacks;
  // Whether it looks for them, so that `lacks` comes; false: also an earlier version, which may.
  bool looks = false;

  friend bool operator==(const DaemonStatus&, const DaemonStatus&) = default;
};

inline constexpr char kConnected = 'C';
bool is_connected(const DaemonStatus& daemon, std::int64_t slot);

// Whether a daemon of what it was last started with may run without another request: only then is
// its end not final. An earlier supervisor starts again what has ended by itself.
bool may_start_by_itself(const DaemonStatus& daemon);

}  // namespace cdom::base
