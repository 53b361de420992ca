// reconcile_node: a node agent's decisions.
//
// Pure, total and deterministic: equal worlds give equal plans, whatever the order of their inputs.
// Applying plans again and again settles: the plan is empty when nothing is wanted any more.
#pragma once

#include <optional>

#include "compute_domain/core/node_plan.h"
#include "compute_domain/core/node_world.h"

namespace cdom::core {

NodePlan reconcile_node(const NodeWorld& world);

// What of a plan's report may be told though its checkpoint cannot be written: that the daemon does
// not serve any more. Nothing that says more than the stored report, and no end. nullopt: nothing.
std::optional<PublishReport> report_of_failure(const NodeWorld& world, const NodePlan& plan);

// Whether the next agent has to know something of it: claims, a daemon, a report that is still
// owed. The clique does not count, as the fabric gives it again.
bool is_worth_keeping(const Checkpoint& checkpoint);

}  // namespace cdom::core
