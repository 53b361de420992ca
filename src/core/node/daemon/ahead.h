// A daemon ahead of its claims: with isolation by domain it starts as soon as the node list of a
// complete domain admits a claim here, and not only when kubelet asks for that claim, which is some
// tenths of a second later, or seconds on a busy node.
//
// Its group is served without a claim for so long, and not reported: to the controller the node
// still has the slot and nothing in it.
#pragma once

#include "core/node/draft.h"

namespace cdom::core {

// Whether the daemon of a group that is served without a claim (is_ahead) is to run: one of its
// claims may be asked for.
bool awaits_claims(const NodeDraft& draft);

// Serves the group whose list admits a claim here, unless the node serves one; and stops the daemon
// of one that is served for claims that nobody awaits any more.
void serve_ahead(NodeDraft& draft);

}  // namespace cdom::core
