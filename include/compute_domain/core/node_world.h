// NodeWorld: the immutable snapshot that one reconcile of a node decides on.
//
// Plain values, gathered by the agent from its informers, its ports and its memory. Durations are
// points on Clock::elapsed() unless they are called an age or a time span.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/api/compute_domain_node.h"
#include "compute_domain/api/resource.h"
#include "compute_domain/base/daemon_status.h"
#include "compute_domain/base/result.h"
#include "compute_domain/base/shared.h"
#include "compute_domain/core/checkpoint.h"
#include "compute_domain/core/listed_domain.h"
#include "compute_domain/core/world.h"

namespace cdom::core {

// Time spans that the rules speak of.
struct NodeTimes {
  // A daemon starts when its list is complete, or this long unchanged, or this long known.
  base::Duration list_settles = std::chrono::milliseconds(200);
  base::Duration list_patience = std::chrono::seconds(1);
  // The first READY is held this long for connections, so that it tells them too; a state of less
  // is not told.
  base::Duration ready_hold = std::chrono::seconds(2);
  base::Duration report_hold = std::chrono::seconds(1);
  // A connection that breaks off is given this long to come back: a switch that blinks, a peer that
  // is replaced.
  base::Duration lost_hold = std::chrono::milliseconds(300);
  // A member that has never been connected is given this long, from its last start that is known,
  // before it counts as lost: it starts and dials, and while peers are missing, what the daemon
  // says of them is old by up to a second, or by more on a busy node.
  base::Duration first_contact = std::chrono::seconds(5);
  base::Duration recovery_notice = std::chrono::seconds(10);
  base::Duration admission_patience = std::chrono::seconds(5);
  base::Duration prepare_patience = std::chrono::seconds(40);   // kubelet's own deadline is 45 s
  base::Duration takeover_patience = std::chrono::seconds(10);  // of an unprepare, with node lists
  base::Duration retry_look_up = std::chrono::seconds(1);       // of an answer that was an error
  base::Duration doubt_look_up = std::chrono::minutes(1);       // of a claim that nobody admits
  base::Duration pending_notice = std::chrono::seconds(5);      // before a wait is reported
  base::Duration stale_grace = std::chrono::minutes(10);
  base::Duration old_list_look_up = std::chrono::minutes(5);  // of a clique that is not watched
};

struct NodeIdentity {
  std::string name;
  std::string boot_id;
  std::string address;  // at which the others reach this node's IMEX daemon; "": not known yet
  std::string agent;    // of this process, a new one at each start; "": there is never another

  friend bool operator==(const NodeIdentity&, const NodeIdentity&) = default;
};

// What the agent is configured to serve.
struct NodeSettings {
  api::Isolation isolation = api::Isolation::Domain;
  std::int64_t seats = 8;  // with isolation by channel; by domain there is one
  // With isolation by channel: how many channels the driver must have, as the controller may give
  // any of them.
  std::int64_t channels = 2048;

  friend bool operator==(const NodeSettings&, const NodeSettings&) = default;
};

inline constexpr char kFaultChannels[] = "ImexChannels";
inline constexpr char kFaultDriver[] = "Driver";
inline constexpr char kFaultFabric[] = "Fabric";
inline constexpr char kFaultFabricHealth[] = "FabricHealth";
inline constexpr char kFaultImex[] = "Imex";

// A report of ours that the API server answered without storing anything: its definition of
// ComputeDomainNode lacks what is new in it. Until `until`, and while the stored object has this
// version, it is not sent again.
struct CutReport {
  api::ComputeDomainNodeReport report;
  std::string resource_version;
  base::Duration until{};
};

// A requirement that the node does not meet, in the public words of its report.
struct NodeFault {
  std::string type;  // of the condition: kFaultChannels
  Reason reason = "RequirementsMet";
  std::string message;  // for people, with the remedy
  // Its pods would fail; else it is only reported.
  bool is_blocking = true;

  friend bool operator==(const NodeFault&, const NodeFault&) = default;
};

// What the fabric says now: a clique ("" : none), or why it is not known.
struct FabricReading {
  std::optional<std::string> clique;
  std::string error;
  bool sees_gpus = true;  // false: the driver has answered, and names no GPU
  std::vector<NodeFault> faults = {};

  friend bool operator==(const FabricReading&, const FabricReading&) = default;
};

// How often a member's daemon has been another one, or elsewhere, in a row (base::DaemonPolicy).
struct PeerChanges {
  int count = 0;         // those within one interval between signals are one
  base::Duration due{};  // from when on the last of them is worth a SIGUSR1
};

// A node list of the clique that the node serves, and since when it has been as it is.
struct SeenList {
  StoredList stored;
  base::Duration first_seen{};
  base::Duration changed{};
  // Members that have an address, by node: since when they have had it and their instance.
  std::map<std::string, base::Duration> member_since;
  // By node; also of one that is no member just now. Who has been quiet is not here.
  std::map<std::string, PeerChanges> peer_changes;
};

// member_since of a list that is seen at `now` after `before`.
std::map<std::string, base::Duration> member_since(const SeenList& before, const StoredList& after,
                                                   base::Duration now);

// peer_changes of a list that is seen at `now` after `before`. The list that an agent sees first
// tells of no change.
std::map<std::string, PeerChanges> peer_changes(const SeenList& before, const StoredList& after,
                                                base::Duration now);

// The IMEX daemon, as its supervisor reports it, and since when.
struct SeenDaemon : base::DaemonStatus {
  base::Duration since{};   // when `phase` and `instance` became what they are
  base::Time since_time{};  // the same moment on the wall clock
  base::Duration due{};     // when it may be started again, after it ended or could not be started
  // By slot: since when a peer that was connected has not been.
  std::map<std::int64_t, base::Duration> disconnected;
};
// The phase as reports name it.
api::DaemonState state_of(base::DaemonPhase phase);

// The API server's own answer about a claim.
struct ClaimReading {
  std::optional<api::ResourceClaim> claim;
  std::optional<base::Error> error;  // NotFound among them
  base::Duration asked{};
  std::optional<base::Duration> gone_since;  // every answer since then said that it has ended here
};

// The same about another node of the group.
struct PeerReading {
  NodeView view;
  std::optional<base::Error> error;  // of either object; an absent one is no error
  base::Duration asked{};
};

// The same about the node list of a group whose clique is not watched; NotFound is an answer.
struct ListReading {
  std::optional<StoredList> stored;
  std::optional<base::Error> error;
  base::Duration asked{};
};

// The same about the ComputeDomains of a namespace.
struct DomainsReading {
  base::Shared<std::vector<ListedDomain>> domains = std::vector<ListedDomain>();
  std::optional<base::Error> error;
  base::Duration asked{};
};

// A claim whose channels were injected here, by the files that lie there; its names are kubelet's,
// or "".
struct HeldClaim {
  ClaimRef claim;
  ChannelRange channels;

  friend bool operator==(const HeldClaim&, const HeldClaim&) = default;
};

// A pod that kubelet runs by its own account, also one that the API server no longer has.
struct RunningPod {
  std::string ns, name, uid;
  std::set<std::string> claims;    // that its spec names; of those from templates it has no name
  std::int64_t grace_seconds = 0;  // that its containers are given to end

  friend bool operator==(const RunningPod&, const RunningPod&) = default;
};

// What kubelet has asked for and has no answer to yet.
struct WantedClaim {
  ClaimRef claim;
  base::Duration since{};
};

// Something that could not be done on this node, and when it may be tried again.
struct Setback {
  std::string error;
  base::Duration retry_at{};

  friend bool operator==(const Setback&, const Setback&) = default;
};
// The key of the IMEX daemon's setback. Every other setback is a claim's, by its UID.
inline constexpr char kDaemonSetback[] = "";

// A term of this node in a group.
struct ImexGroupTerm {
  std::string group;
  std::int64_t term = 0;

  friend auto operator<=>(const ImexGroupTerm&, const ImexGroupTerm&) = default;
};

// Objects of our own: as a watch shows them, or as the API server answered a later write. While one
// that we wrote has not been seen yet, `current` is false and nothing is written.
template <class T>
struct Published {
  std::vector<T> objects;
  bool current = false;
};

struct NodeWorld {
  base::Time now{};
  base::Duration elapsed{};
  NodeTimes times;
  NodeIdentity self;
  NodeSettings settings;
  FabricReading fabric;
  std::optional<std::int64_t> channel_count;  // that the driver has; nullopt: it does not tell
  bool lists_synced = false;
  std::vector<SeenList> lists;  // in any order
  Checkpoint checkpoint;
  std::vector<WantedClaim> prepares, unprepares;
  std::map<std::string, RunningPod> running_pods;  // by UID; none where kubelet has no PodsAPI
  std::map<std::string, base::Duration>
      held_since;                     // by UID of a claim with PreparedClaim::held_by
  std::optional<SeenDaemon> daemon;   // nullopt: its supervisor does not answer
  std::string supervisor_error;       // why
  bool supervisor_has_ended = false;  // proven, and with it the daemon that it may have run
  base::Duration supervisor_silent_since{};
  Published<api::ComputeDomainNode> report;
  bool has_read_report = false;           // since this agent began; or that there was none then
  std::set<ImexGroupTerm> maybe_stopped;  // words "stopped" whose write was not answered
  std::optional<CutReport> cut_report;
  Published<api::ResourceSlice> slices;           // of this driver on this node
  std::map<std::string, ClaimReading> readings;   // by claim UID
  std::map<std::string, DomainsReading> domains;  // by namespace
  std::map<std::string, PeerReading> peers;       // by node
  std::map<std::string, ListReading> old_lists;   // by group
  std::set<std::string> known_to_kubelet;         // of the checkpoint's claims, by UID
  // By UID of a claim of the checkpoint whose name is not known, as only a report told of it: since
  // when neither kubelet's record nor a file here has named it.
  std::map<std::string, base::Duration> unnamed_since;
  // UIDs of prepared claims whose file is not there, or names other devices than the driver has.
  std::set<std::string> wrong_files;
  // While the checkpoint serves no group, or is of an earlier boot.
  std::vector<HeldClaim> held;
  bool knows_held = false;       // these are all of them
  base::Duration asked_since{};  // since when kubelet has wanted something, or has had a claim here
  std::vector<NodeFault> faults;               // besides the fabric's
  std::map<std::string, Setback> setbacks;     // by claim UID
  std::map<std::string, std::string> refused;  // why kubelet got no claim last, by its UID
};

// Whether the checkpoint is of an earlier boot: no claim, channel or daemon of it can be left.
bool has_rebooted(const NodeWorld& world);

// Whether the node list of an IMEX group with a table admits a claim on this node.
bool admits_here(const NodeWorld& world);

// Whether the answer proves that the claim has ended here: it is gone, has another UID, or is not
// allocated to this node any more.
bool has_ended_here(const ClaimReading& reading, const ClaimRef& claim, const std::string& node);

}  // namespace cdom::core
