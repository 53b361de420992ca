// Readiness: what is true of each member, and of each pair of members, by the nodes' own reports.
//
// A member is ready when its daemon has said READY for the table of its node list and nothing known
// since contradicts it. A pair is connected only when one of the two says so and neither says the
// opposite: the lack of a complaint is no connection. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compute_domain/core/membership.h"
#include "compute_domain/core/world.h"

namespace cdom::core {

enum class MemberState {
  Ready,
  NotReported,   // the node's agent has not told a clique or a group yet
  NoSlot,        // the group is full
  NoChannel,     // all channels of the clique are taken
  NoRoom,        // the clique's node list is full
  WrongAddress,  // it reports an address of another member, or one of nobody
  WrongChannel,  // its containers have another channel than the node list says
  Unconfirmed,   // only its own agent says that it is of the clique
  Apart,         // it is isolated by domain, others of its clique by channel
  Starting,      // its daemon has not said READY
  Recovering,    // its daemon waits for importers of an earlier run
  Failed,        // its daemon ended, hangs or cannot start
  WrongTable,    // READY for another table than the node list's
  Rebooted,      // the node runs another boot than the one reported
  NodeUnknown,   // the node's kubelet has stopped answering, or there is no such Node
  AgentUnknown,  // the agent has been gone for longer than its grace
  Unreachable,   // most of the other members cannot reach it
};
std::string_view to_string(MemberState state);

struct MemberView {
  Membership membership;
  MemberState state = MemberState::NotReported;
  std::string detail;  // for people: what is wrong and what to do; "" when ready
  std::int64_t slot = -1;
  std::int64_t channel = 0;  // with isolation by channel, once it has one
  std::string address;
  std::int64_t restarts = 0;  // of its IMEX daemon, by its own word
  std::optional<api::DaemonFailure> last_failure;
};

// A pair of members of one group that is not connected, by name; `told` when one of them says that
// it cannot reach the other, else nobody has said anything of the pair yet.
struct OpenPair {
  std::string from, to;
  bool told = false;

  friend bool operator==(const OpenPair&, const OpenPair&) = default;
};

struct Readiness {
  std::vector<MemberView> members;  // counted members only, by node
  std::vector<OpenPair> open_pairs;
  bool host_managed = false;  // some member's daemon is its host's: who reaches whom is not known
  // When a state changes by time alone (an agent's grace ends).
  std::optional<base::Duration> look_again;
};

Readiness readiness_of(const World& world, const std::vector<Membership>& memberships);

}  // namespace cdom::core
