// Recovery: a daemon that waits for the importers of an earlier run that had no clean end.
//
// How it goes: after a notice period the report names those that it is not connected with. A member
// comes back by itself. About a node that is not a member any more the agent asks the API server;
// once it is proven that none of them runs its daemon (slots.h, is_fenced), this node's daemon is
// stopped and starts again without the group's record. What it guarantees: it never stops a daemon
// that was READY; the record goes before the next start, also after a crash of the agent.
#pragma once

#include <string>

#include "core/node/draft.h"

namespace cdom::core {

void end_vain_recovery(NodeDraft& draft);

// "n02, n05 (no member any more)": whom a recovering daemon is not connected with; "" for nobody.
std::string awaited_importers(const NodeWorld& world, const ServedImexGroup& served);

}  // namespace cdom::core
