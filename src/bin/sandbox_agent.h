// The real node agent behind the sandbox's port NodePlugin.
#pragma once

#include "compute_domain/sandbox/node_plugin.h"

namespace cdom::bin {

// Each node keeps what its IMEX owner and its files know over a crash of its agent, in the factory.
sandbox::NodePluginFactory agent_factory(std::string operator_namespace);

}  // namespace cdom::bin
