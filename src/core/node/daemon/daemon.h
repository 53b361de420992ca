// The daemon of the served group: it is started, kept running, and gets its peers.
#pragma once

#include "core/node/draft.h"

namespace cdom::core {

// Has the daemon started when its group has a claim, or stands, and the start policy allows it, and
// leaves it to the supervisor to start it again when it has ended by itself; stops one that stands
// while its node rests; keeps its hosts file equal to the node list; asks for SIGUSR1 where that
// helps.
void keep_daemon(NodeDraft& draft);

// A daemon that starts again within the term of which the published report says "stopped" might
// run in a slot that is being given away: that word has to be taken back first.
bool has_to_take_back_stopped(const NodeWorld& world, const ServedImexGroup& served);
bool says_stopped(const NodeWorld& world, const ServedImexGroup& served);

}  // namespace cdom::core
