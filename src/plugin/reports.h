// The reports of several questions about one view, whose Facts are gathered once. Pure.
#pragma once

#include <vector>

#include "compute_domain/plugin/check.h"
#include "compute_domain/plugin/matrix.h"
#include "compute_domain/plugin/timeline.h"
#include "compute_domain/plugin/topology.h"
#include "compute_domain/plugin/why.h"
#include "plugin/facts.h"

namespace cdom::plugin {

// CRDs, DeviceClasses, controller, DaemonSets: `check` without its nodes.
std::vector<Finding> install_of(const ClusterView& view,
                                const std::vector<api::Definition>& expected);
TopologyReport topology_of(const Facts& facts);
MatrixReport matrix_of(const Facts& facts, const DomainFacts& domain);
TimelineReport timeline_of(const Facts& facts, const DomainFacts& domain);
WhyReport why_of(const Facts& facts, const DomainFacts& domain);

}  // namespace cdom::plugin
