// ComputeDomainNode, resource.nvidia.com/v1beta1: what a node reports about its IMEX.
//
// Cluster-scoped, named after the node, written only by that node's agent (its status), for fencing
// by an administrator (an annotation), and by the controller where it says that the report may not
// be true any more (status.stale). It has no owner reference and outlives its Node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/api/compute_domain.h"
#include "compute_domain/api/meta.h"

namespace cdom::api {

// What keeps workloads apart on a node whose GPUs have a fabric.
enum class Isolation {
  Domain,   // each domain has IMEX daemons of its own, and all of them channel 0
  Channel,  // one set of daemons serves the whole clique, and each domain has a channel of its own
};
std::string_view to_string(Isolation isolation);

// What the node's IMEX daemon is in for one group. A state passed through in under a second is not
// reported.
enum class DaemonState {
  None,        // the group needs no daemon here: no fabric, or nothing prepared yet
  Starting,    // started, has not said READY
  Recovering,  // WAITING_FOR_RECOVERY: waits for importers of an earlier run
  Ready,       // said READY for the table of `table_hash`
  Failed,      // ended, hangs or cannot start; `message` says which
  Stopped,     // ended for good on this node: the slot may go to another
};
std::string_view to_string(DaemonState state);

// The channel that the containers of a claim have.
struct ClaimChannel {
  std::string claim_uid;
  std::int64_t channel = 0;

  friend auto operator<=>(const ClaimChannel&, const ClaimChannel&) = default;
};

// What a report may hold; the CRD says the same. An older CRD allowed more: what a stored report
// has beyond these bounds is left out.
struct ReportBounds {
  static constexpr std::size_t kGroups = 256;
  // Claims, their channels, and peers that are not reached: the bound of one group, and of all
  // groups together. A node runs one daemon and has at most 128 devices; a stopped group is short.
  static constexpr std::size_t kOfAGroup = 256;
  static constexpr std::size_t kPendingClaims = 64;
  static constexpr std::size_t kConditions = 16;
  static constexpr std::size_t kName = 253;     // of a node
  static constexpr std::size_t kDomain = 317;   // namespace/name
  static constexpr std::size_t kId = 63;        // cliques, groups, boots, instances, UIDs
  static constexpr std::size_t kAddress = 45;   // of IPv6
  static constexpr std::size_t kRanges = 8192;  // of a group, and of all groups together
  static constexpr std::size_t kMessage = 1024;
  static constexpr std::int64_t kSlot = 65'535;
  static constexpr std::int64_t kCount = 1'000'000'000'000'000;  // terms, releases
};

struct ImexGroupReport {
  std::string group;       // the group's id
  std::string table_hash;  // of the node table that the daemon was started with
  std::int64_t slot = -1;  // -1 without a fabric
  std::int64_t term = 0;   // of the node list entry that this is said of
  DaemonState state = DaemonState::None;
  std::string instance;  // of the daemon: a new one at each start; "" without a daemon
  base::Time since{};    // when `state` began
  // The members that the daemon is connected to, as slots in ascending ranges: "0-3,7".
  std::string connected;
  std::vector<std::string> unreachable;  // current members that the daemon does not reach, by name
  std::vector<std::string> domains;      // that it serves here, "team-a/train"; for people
  std::vector<std::string> claims;       // UIDs of the claims prepared here for this group, sorted
  // With isolation by channel: the channels of these claims, as ranges; and how many releases of
  // the group's node list the node knew of when it said so.
  std::string channels;
  std::vector<ClaimChannel> claim_channels;  // as far as they are known, by claim UID
  std::int64_t releases = 0;
  std::string message;  // for people: why it is not ready, and what to do
  // In this term: how often another daemon has taken the place of one, how the last one failed that
  // did, and how the last one with which pods here lost imported memory: a failure of another kind,
  // such as a hang, does not give it back.
  std::int64_t restarts = 0;
  std::optional<DaemonFailure> last_failure;
  std::optional<DaemonFailure> last_loss;
  std::vector<std::string> lost_claims;  // UIDs of the claims whose pods lost it, sorted

  friend bool operator==(const ImexGroupReport&, const ImexGroupReport&) = default;
};

// A claim that kubelet asks the node to prepare and that it cannot prepare, or not yet.
struct PendingClaim {
  std::string uid;
  std::string message;  // for people: what it waits for, or why it is refused

  friend bool operator==(const PendingClaim&, const PendingClaim&) = default;
};

// The report in the cells of a table, for people: nothing is decided by it.
struct ReportSummary {
  // The worst state among the groups that have not stopped, and since when; absent without a group.
  std::optional<DaemonState> state;
  std::optional<base::Time> since;
  std::string domains, unreachable;  // names: "r1n03, r1n04 and 3 more"
  std::string message;               // what keeps the node from serving, and what to do

  friend bool operator==(const ReportSummary&, const ReportSummary&) = default;
};

// A type in ComputeDomainNodeReport::conditions: whether the node offers its devices to the
// scheduler.
inline constexpr char kConditionCanServe[] = "CanServe";

struct ComputeDomainNodeReport {
  std::string boot_id;
  // The clique that the node serves; "" without a fabric, and while the fabric has never been read
  // in this boot.
  std::string clique;
  // The clique that the fabric names now, when that is another one: the node changes over when its
  // last claim has ended. nullopt otherwise.
  std::optional<std::string> next_clique;
  // How the node serves now. When its configuration asks for another isolation, that is
  // next_isolation, and the node changes over when its last claim has ended.
  Isolation isolation = Isolation::Domain;
  std::optional<Isolation> next_isolation;
  // Its IMEX daemon is the host's own: the driver only asks it for its state, and never starts it,
  // stops it or gives it peers.
  bool host_managed = false;
  std::string fabric_error;             // why the fabric cannot be read; for people
  std::string address;                  // where this node's IMEX daemon is reached by the others
  std::vector<ImexGroupReport> groups;  // by group
  std::vector<PendingClaim> pending_claims;  // by UID
  // CanServe; and for each requirement that the node does not meet one that is False.
  std::vector<Condition> conditions;
  ReportSummary summary;

  friend bool operator==(const ComputeDomainNodeReport&, const ComputeDomainNodeReport&) = default;
};

enum class StaleState { Unknown };

// Why a report may not be true any more. The controller writes it, not the node.
struct Staleness {
  StaleState state = StaleState::Unknown;  // what a table shows instead of the summary's
  std::string reason;                      // a word for programs: "NodeUnknown"
  std::string message;                     // for people, with the next step
  base::Time since{};                      // when the controller has found it

  friend bool operator==(const Staleness&, const Staleness&) = default;
};

struct ComputeDomainNode {
  ObjectMeta meta;
  ComputeDomainNodeReport status;
  std::optional<Staleness> stale;  // status.stale; absent while the report can be believed

  friend bool operator==(const ComputeDomainNode&, const ComputeDomainNode&) = default;
};

// nullopt: not known, as the node has not reported yet or cannot tell whether it has a fabric.
std::optional<std::string> clique_of(const ComputeDomainNodeReport& report);

// The report within its bounds: messages and lists keep their beginning, groups that have not
// stopped go before others, and a value that cannot be cut counts as not reported.
ComputeDomainNodeReport bounded(ComputeDomainNodeReport report);

const ImexGroupReport* find_group(const ComputeDomainNodeReport& report, std::string_view group);

}  // namespace cdom::api
