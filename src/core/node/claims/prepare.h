// Preparing claims: from kubelet's wish to the answer.
//
// How it goes:
//  1. begin_prepares: the claim is read and checked, a node list admits it, and the checkpoint says
//     Started before anything else happens.
//  2. keep_daemon (daemon.h): the group's daemon is started.
//  3. finish_prepares: this node's daemon has said READY for the group's table; the channel is
//     injected, the checkpoint says Completed, kubelet is answered.
// What it guarantees: a crash between any two of these leaves what the next run goes on from, and
// the same claim always gets the same devices.
#pragma once

#include "core/node/draft.h"

namespace cdom::core {

void begin_prepares(NodeDraft& draft);
void finish_prepares(NodeDraft& draft);

}  // namespace cdom::core
