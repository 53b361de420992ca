// reconcile_node: a node agent's decisions.
//
// Pure, total and deterministic: equal worlds give equal plans, whatever the order of their inputs.
// Applying plans again and again settles: the plan is empty when nothing is wanted any more.
#pragma once

#include "compute_domain/core/node_plan.h"
#include "compute_domain/core/node_world.h"

namespace cdom::core {

NodePlan reconcile_node(const NodeWorld& world);

}  // namespace cdom::core
