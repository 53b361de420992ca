// NodePause: what a Node says that users of its GPU driver have to know. Values and pure functions.
//
// The controller reads Nodes, and writes this on the node's ComputeDomainNode, which the node's
// agent watches: so an agent need not be allowed to watch Nodes.
#pragma once

#include <string>
#include <string_view>

#include "compute_domain/api/core.h"

namespace cdom::core {

struct NodePause {
  bool is_cordoned = false;
  // The label, "key=value", that says that the driver is about to be taken away; "": it is not.
  std::string driver;

  friend bool operator==(const NodePause&, const NodePause&) = default;
};

NodePause pause_of(const api::Node& node);
// Whether pause_of() reads this label of a Node.
bool tells_of_pause(std::string_view key, std::string_view value);

// The pause as an annotation's value: "" without a pause, "cordoned", "driver KEY=VALUE", or both
// with "; " between them. pause_in() leaves out what it does not understand.
std::string to_text(const NodePause& pause);
NodePause pause_in(std::string_view text);

}  // namespace cdom::core
