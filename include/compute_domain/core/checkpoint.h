// Checkpoint: what a node agent has to know after a crash, as it lies on the node's disk.
//
// It is written before every side effect and after it, so that a fresh agent either repeats an
// effect, which is harmless, or knows that it is done. Values; belongs to one boot of the node.
//
// Agents of two versions share it while one replaces the other. `later`, in each of these values,
// is what a later version has added there: a JSON object's text, or "" for none. It is written back
// as it is, for as long as there is what it belongs to.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/base/clock.h"

namespace cdom::core {

// A claim in the words of kubelet.
struct ClaimRef {
  std::string ns, name, uid;

  friend auto operator<=>(const ClaimRef&, const ClaimRef&) = default;
};
// "team-a/train-0-channel".
std::string to_string(const ClaimRef& claim);

// The IMEX channels that a claim's containers get; none without a fabric.
struct ChannelRange {
  std::int64_t first = 0;
  std::int64_t count = 0;

  friend bool operator==(const ChannelRange&, const ChannelRange&) = default;
};

// A device of a claim's allocation that is ours.
struct DeviceRef {
  std::string request, pool, device;
  std::string later = {};

  friend bool operator==(const DeviceRef&, const DeviceRef&) = default;
};

enum class ClaimPhase {
  Started,    // admitted; side effects may have begun
  Completed,  // kubelet may have got the devices
  Ending,     // being unprepared; goes on by itself
};

inline constexpr char kHostsDaemon[] = "host";  // no instance of a supervisor's

struct PreparedClaim {
  ClaimRef claim;
  ClaimPhase phase = ClaimPhase::Started;
  std::string group;
  ChannelRange channels;
  std::vector<DeviceRef> devices;
  bool admin_access = false;        // uses the group that runs; does not keep it running
  std::set<std::string> pods = {};  // UIDs of pods for which it was reserved at its prepare
  // Ending: pods that kubelet still runs, by UID, and their grace period in seconds. Until they
  // have ended nothing of the claim goes, though kubelet has unprepared it.
  std::map<std::string, std::int64_t> held_by = {};
  // The instance of the IMEX daemon that has been READY last while the claim was prepared, and
  // whether it has ended: then its pods have lost the memory that they imported. kHostsDaemon: it
  // is the host's own. "": not known, as an agent of before 0.2 has prepared the claim.
  std::string daemon = {};
  bool lost_memory = false;
  // Completed: the word for a phase that only a later version knows, and which is written back.
  std::string later_phase = {};
  std::string later = {};

  friend bool operator==(const PreparedClaim&, const PreparedClaim&) = default;
};

// Where a peer's daemon was to be found, and which one it was.
struct PeerIdentity {
  std::string address, instance;
  std::string later = {};

  friend bool operator==(const PeerIdentity&, const PeerIdentity&) = default;
};

// The last end of a daemon of a group with which pods here lost the memory that they had imported.
struct MemoryLoss {
  base::Time time{};  // whole seconds; never that of the one before
  std::string message;
  std::set<std::string> claims = {};  // UIDs of those whose pods lost it; never none
  std::string later = {};

  friend bool operator==(const MemoryLoss&, const MemoryLoss&) = default;
};

// The group whose IMEX daemon this node runs, or is to run: a GPU driver takes one session.
struct ServedImexGroup {
  std::string group;
  std::int64_t slots = 0;  // of its table
  std::int64_t slot = -1;
  std::int64_t term = 0;                       // of the admission
  bool started = false;                        // a daemon has been started, or is about to be
  std::map<std::int64_t, PeerIdentity> peers;  // members when the daemon last connected to all
  // Before its next start the daemon's record of importers goes: they have ended.
  bool forget_importers = false;
  std::optional<MemoryLoss> loss = {};
  std::string later = {};

  friend bool operator==(const ServedImexGroup&, const ServedImexGroup&) = default;
};

// A group whose daemon has ended for good here: the report says "stopped".
struct StoppedImexGroup {
  std::string group, clique;
  std::int64_t slot = -1;
  std::int64_t term = 0;
  std::string later = {};

  friend bool operator==(const StoppedImexGroup&, const StoppedImexGroup&) = default;
};

struct Checkpoint {
  // The newest agent process of the node, which alone speaks for it while others end.
  std::string agent;
  std::string boot_id;
  std::optional<std::string> clique;            // that the node serves; nullopt: not known yet
  bool by_channel = false;                      // it isolates domains by channel, not by daemon
  std::map<std::string, PreparedClaim> claims;  // by UID
  std::optional<ServedImexGroup> served;
  std::map<std::string, StoppedImexGroup> stopped;  // by group
  // UIDs of claims that kubelet has unprepared while a daemon ran of which the checkpoint, which
  // was lost, did not know: the last report may still name them.
  std::set<std::string> let_go = {};
  std::string later = {};

  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// Whether the group is the one whose daemon runs for the whole clique, whatever claims there are.
bool is_standing(const Checkpoint& checkpoint, std::string_view group);

// Whether a claim is here that uses the group: all but those with admin access.
bool has_claims(const Checkpoint& checkpoint, std::string_view group);

// The same of any group.
bool has_claims(const Checkpoint& checkpoint);

// Whether a group, not the standing one of a clique, is served of which no claim is here: its
// daemon runs ahead of them.
bool is_ahead(const Checkpoint& checkpoint);

}  // namespace cdom::core
