// NodeFabric: where this node's agent learns its fabric: compute-domain-imex, or a file in its
// place.
#pragma once

#include <memory>

#include "agent/main/agent_flags.h"
#include "compute_domain/agent/file_fabric.h"
#include "compute_domain/agent/imex_fabric.h"

namespace cdom::program {

// `supervisor` outlives it.
inline std::unique_ptr<agent::Fabric> make_node_fabric(const AgentFlags& flags,
                                                       agent::ImexClient& supervisor,
                                                       const base::Clock& clock) {
  if (!flags.fabric_file.empty()) {
    return std::make_unique<agent::FileFabric>(flags.fabric_file, flags.node.mode_of_fabric());
  }
  return std::make_unique<agent::ImexFabric>(supervisor, flags.node.mode_of_fabric(), clock);
}

}  // namespace cdom::program
