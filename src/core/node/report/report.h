// The report: the node's own word in its ComputeDomainNode.
//
// What is written and when: a first READY is held until every current member is connected, a second
// at most; a state that lasts less than the hold is passed over; a member out of reach is told
// after the hold, one that is back at once; who is connected is told along with something else,
// never by itself, as the newcomer's own report says the same.
#pragma once

#include "core/node/draft.h"

namespace cdom::core {

void publish_report(NodeDraft& draft);

// Drops the word "stopped" of groups whose node list is gone; of a clique that the node served
// before, also of one in which it has no slot any more.
void forget_stopped(NodeDraft& draft);

}  // namespace cdom::core
