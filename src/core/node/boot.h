// Boot, clique and takeover: what has to be settled before anything else on a node is decided.
#pragma once

#include "core/node/draft.h"

namespace cdom::core {

// Empties a checkpoint of an earlier boot, and removes the CDI files of all claims.
void forget_earlier_boot(NodeDraft& draft);

// The clique that the node serves: what the fabric said first, and something else only when nothing
// of it is in use any more.
void serve_clique(NodeDraft& draft);

// A daemon that runs while the checkpoint knows of none (it was lost): its claims are those of the
// last report that kubelet has not unprepared since, and those whose channels were injected, so
// that the report goes on naming them and their Unprepare stops it. One without any ran ahead of
// its claims; it goes on, or is stopped.
void take_over_daemon(NodeDraft& draft);

// With isolation by channel the daemon of the node's clique runs as soon as the node list has this
// node, and ends when the node changes over to something else and no claim is left.
void serve_standing_group(NodeDraft& draft);

}  // namespace cdom::core
