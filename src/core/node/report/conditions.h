// Whether a node can serve claims, in the public words of its report. Pure functions.
#pragma once

#include <vector>

#include "core/node/draft.h"

namespace cdom::core {

// The requirements that the node does not meet and that pods would fail without: while there is one
// it offers no device.
std::vector<NodeFault> faults_of(const NodeDraft& draft);

// CanServe, and one that is False for each fault, also for those that keep it from nothing, and for
// a fabric that cannot be read. One whose
// status goes on keeps the time since which it has been so in what was `said`; that may be null.
std::vector<api::Condition> conditions_of(const NodeDraft& draft,
                                          const api::ComputeDomainNode* said);

}  // namespace cdom::core
