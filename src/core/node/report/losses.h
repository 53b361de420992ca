// The memory that pods lose with the end of an IMEX daemon, as the checkpoint notes it. Pure.
//
// A claim that is prepared remembers which daemon was READY last. Its pods have lost their memory
// when the supervisor proves that this daemon has ended, whatever was reported of it meanwhile; no
// report is asked, so the loss is noted once, however late it is told.
#pragma once

#include <string>

#include "core/node/draft.h"

namespace cdom::core {

// By which a claim remembers the daemon. Nothing proves the end of a host's own, which has another
// instance for each supervisor and when it answers again: no loss of it is noted.
std::string remembered_name(const SeenDaemon& daemon);

// What has become of the daemons that the prepared claims use.
void note_losses(NodeDraft& draft);

// Why the daemon does not run, so that what pods have lost is still read behind it.
std::string shortened_cause(std::string cause);

// What its supervisor says of the end of a daemon that does not run.
std::string said_of_end(const SeenDaemon& daemon, const ServedImexGroup& served);

// Whether pods are here that have lost their memory and have had no READY daemon since.
bool have_lost_memory(const NodeDraft& draft, const ServedImexGroup& served);

// Whether the published report of the group, nullptr for none, lacks the noted loss.
bool is_untold(const NodeWorld& world, const ServedImexGroup& served,
               const api::ImexGroupReport* said);

}  // namespace cdom::core
