// Claims that kubelet asked for and has not got, for the node's report. A pure function.
#pragma once

#include <vector>

#include "core/node/draft.h"

namespace cdom::core {

// By UID: the claims that this plan refuses, those that were refused last and are not asked for
// again yet, and those that have waited for long enough to be worth a write.
std::vector<api::PendingClaim> pending_claims(NodeDraft& draft);

}  // namespace cdom::core
