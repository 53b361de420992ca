// Readiness: what is true of each member, and of each pair of members, by the nodes' own reports.
//
// A member is ready when its daemon is READY for the table of its node list and nothing known since
// contradicts that. A pair is connected only when one of the two reports it and neither reports the
// opposite: without a complaint a pair need not be connected. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compute_domain/core/membership.h"
#include "compute_domain/core/reasons.h"
#include "compute_domain/core/world.h"

namespace cdom::core {

struct MemberView {
  Membership membership;
  MemberState state = "NotReported";
  std::string detail;  // for people: what is wrong and what to do; "" when ready
  std::int64_t slot = -1;
  std::int64_t channel = 0;  // with isolation by channel, once it has one
  std::string address;
  std::int64_t restarts = 0;  // of its IMEX daemon, by its own word
  std::optional<api::DaemonFailure> last_failure, last_loss;
  // Sorted UIDs of the claims here whose pods lost memory with the last loss; of a node whose agent
  // does not say which, those that it has prepared.
  std::vector<std::string> lost_claims;
};

// A pair of members of one group that is not connected, by name. `is_reported`: one of them reports
// that it cannot reach the other; else neither has reported on the pair yet.
struct OpenPair {
  std::string from, to;
  bool is_reported = false;

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
