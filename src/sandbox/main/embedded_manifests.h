// The manifests of this project that make a cluster ready for the operator, as they lay in the
// source tree when the program was built: CRDs, namespace, roles, policies, device classes.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace cdom::program {

// File name and text, in the order in which they are to be loaded.
const std::vector<std::pair<std::string, std::string>>& embedded_manifests();
// The DaemonSet of the agents.
const std::string& embedded_agent();

}  // namespace cdom::program
