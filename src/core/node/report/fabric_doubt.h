// Whether a driver that names no GPU is to be believed. A rule of reconcile_node.
#pragma once

#include "core/node/draft.h"

namespace cdom::core {

// A driver that is being replaced and GPUs that are being reset look like a node without GPUs. On a
// node whose checkpoint, report or label knows a clique that is a fault, not a node without a
// fabric. Who has no checkpoint asks the API server before it believes it.
void doubt_fabric(NodeDraft& draft);

}  // namespace cdom::core
