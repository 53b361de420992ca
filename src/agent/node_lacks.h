// What the node lacks by its supervisor's look at it, in the words of its report. Pure.
#pragma once

#include <vector>

#include "compute_domain/base/daemon_status.h"
#include "compute_domain/core/node_world.h"

namespace cdom::agent {

// The condition of each is that of its reason's row; where that names CanServe too, or the
// supervisor says so, pods would fail. Of the reasons that this version does not know, those for
// which pods would fail are ImexCannotStart, with the supervisor's message; others are left out.
std::vector<core::NodeFault> faults_by(const std::vector<base::NodeLack>& lacks);

}  // namespace cdom::agent
