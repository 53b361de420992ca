// Ending claims: Unprepare, a claim that is proven stale, and the daemon that ends with the last.
//
// How it goes: end_claims(). What it guarantees: nothing here waits for the API server, except, for
// a bounded time, the end of a claim that the checkpoint does not name while a daemon runs that it
// does not name either; after a crash anywhere a claim goes on ending; a report never has "stopped"
// for a daemon that may run. Nothing else stops a daemon for good.
#pragma once

#include <set>
#include <string>

#include "core/node/draft.h"

namespace cdom::core {

// The claim becomes Ending in the checkpoint and its injection is removed; the daemon is stopped
// when the claim was the last of its group. Once the daemon has ended, the claim leaves the
// checkpoint and the group becomes "stopped" there. Kubelet also unprepares the claims of pods that
// were deleted by force while their containers run on: where its PodsAPI shows such a pod, the call
// is answered and the claim waits for the pod's end. Of a claim that the checkpoint does not name
// the injection is removed, once a daemon that is left of a lost checkpoint was taken over.
void end_claims(NodeDraft& draft);

// Takes a claim that only waits for the end of its pods back into use, as kubelet wants it again
// for `pods`.
void resume_held(NodeDraft& draft, const std::string& uid, std::set<std::string> pods);

// Stops a daemon in a slot of which this node has said that nothing is there any more: an earlier
// agent took one that had ended by itself for gone, and its supervisor has started it again.
void stop_what_has_ended(NodeDraft& draft);

// The served group is served no more: its daemon has ended for good.
void remember_stopped(Checkpoint& checkpoint);

// Asks about claims that no list admits any more, and lets those end that have been gone for long
// and that kubelet does not name either.
void doubt_claims(NodeDraft& draft);
// "ResourceClaim team-a/x is gone, its containers may still run", for the claims of a group.
std::string doubts_about(const NodeDraft& draft, std::string_view group);

}  // namespace cdom::core
