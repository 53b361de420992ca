// NodeDoubt: why what a node has reported may not be true any more.
//
// The one rule for a domain's members and for the report itself (status.stale). Pure.
#pragma once

#include <optional>
#include <string>

#include "compute_domain/core/readiness.h"

namespace cdom::core {

struct NodeDoubt {
  MemberState state = "NodeUnknown";
  std::string detail;  // for people: what is wrong and what to do

  friend bool operator==(const NodeDoubt&, const NodeDoubt&) = default;
};

// nullopt: the node has reported nothing, or what it has reported can be believed. `view` may be
// nullptr: nothing is known of the node. `was_without_agent`: the agent's grace had ended already
// when somebody last looked, also in an earlier process.
std::optional<NodeDoubt> doubt_of(const NodeView* view, const std::string& node,
                                  base::Duration agent_grace, bool was_without_agent);

// How long an agent that is not ready is waited for yet; nullopt when that changes nothing.
std::optional<base::Duration> agent_grace_left(const NodeView& view, base::Duration agent_grace);

}  // namespace cdom::core
