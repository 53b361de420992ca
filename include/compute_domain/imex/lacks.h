// What the node lacks, by a process of its own: what it looks at may hang.
#pragma once

#include <cstdio>
#include <vector>

#include "compute_domain/base/daemon_status.h"

namespace cdom::imex {

// What that process prints for its supervisor.
void print_check_lines(const std::vector<base::NodeLack>& lacks, std::FILE* out);

}  // namespace cdom::imex
