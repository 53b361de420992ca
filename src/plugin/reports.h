// The reports of several questions about one view, whose Facts are gathered once. Pure.
#pragma once

#include "compute_domain/plugin/matrix.h"
#include "compute_domain/plugin/timeline.h"
#include "compute_domain/plugin/topology.h"
#include "compute_domain/plugin/why.h"
#include "plugin/facts.h"

namespace cdom::plugin {

TopologyReport topology_of(const Facts& facts);
MatrixReport matrix_of(const Facts& facts, const DomainFacts& domain);
TimelineReport timeline_of(const Facts& facts, const DomainFacts& domain);
WhyReport why_of(const Facts& facts, const DomainFacts& domain);

}  // namespace cdom::plugin
