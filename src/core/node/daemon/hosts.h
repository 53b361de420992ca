// The hosts file of an IMEX daemon: what each name of its node table means just now.
//
// It follows the node list while the daemon runs; the table never does. Pure.
#pragma once

#include <string>

#include "compute_domain/api/node_list.h"
#include "compute_domain/core/checkpoint.h"
#include "compute_domain/core/node_plan.h"

namespace cdom::core {

// Where the name of a slot without a member leads: it refuses at once, while a name that does not
// resolve would be asked of the cluster's DNS. IMEX binds its own address explicitly. No two slots
// have the same one, as a daemon may take equal entries of its table for a mistake.
std::string nobodys_address(std::int64_t slot);

// One line for each slot of the table; the node's own slot has `own_address`.
WriteHosts hosts_of(const api::NodeList& list, const ServedImexGroup& served,
                    const std::string& own_address);

}  // namespace cdom::core
