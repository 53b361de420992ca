// Preparing claims: from kubelet's wish to the answer.
//
// How it goes: begin_prepares(), then keep_daemon() (daemon.h) starts the group's daemon, then
// finish_prepares(). What it guarantees: after a crash between any two of these the next run goes
// on from what is there, and the same claim always gets the same devices.
#pragma once

#include "core/node/draft.h"

namespace cdom::core {

// Reads and checks each claim. Once a node list admits it, the checkpoint says Started, before
// anything else happens.
void begin_prepares(NodeDraft& draft);
// Once this node's daemon is READY for the group's table, the channel is injected, the checkpoint
// says Completed, and kubelet gets its answer.
void finish_prepares(NodeDraft& draft);
// Writes the CDI file of a prepared claim again that somebody has removed: kubelet does not ask
// again when a container of the pod starts again, and the runtime needs it then.
void renew_files(NodeDraft& draft);

}  // namespace cdom::core
