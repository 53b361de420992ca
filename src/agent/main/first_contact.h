// First contact: what a node's agent asks the API server before it works there.
#pragma once

#include <string>

#include "compute_domain/api/core.h"
#include "compute_domain/base/result.h"
#include "compute_domain/kube/client.h"

namespace cdom::program {

// The agent's own Node, once the server's versions are known and everything may be read that the
// agent reads. Unavailable: ask again. Other errors are for people, in one line: a node that does
// not exist, a permission or a CRD that is missing.
base::Result<api::Node> first_contact(kube::Client& client, const std::string& node,
                                      const std::string& operator_namespace);

}  // namespace cdom::program
