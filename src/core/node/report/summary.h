// The report in the cells of a table. Pure.
#pragma once

#include "compute_domain/api/compute_domain_node.h"

namespace cdom::core {

api::ReportSummary summary_of(const api::ComputeDomainNodeReport& report);

}  // namespace cdom::core
