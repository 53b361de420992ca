// The report: what the node says in its ComputeDomainNode.
//
// What is written and when: a first READY is held until every current member is connected, at most
// `ready_hold`. A state that lasts less than the hold is passed over. A member out of reach is
// reported after the hold, one that is back at once. Who is connected is reported along with
// something else, never by itself, as the newcomer's own report says the same.
#pragma once

#include "core/node/draft.h"

namespace cdom::core {

void publish_report(NodeDraft& draft);

// Drops "stopped" for groups whose node list is gone; in a clique that the node served before, also
// for a group in which it has no slot any more.
void forget_stopped(NodeDraft& draft);

}  // namespace cdom::core
