// The real node agent behind the sandbox's port NodePlugin.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "compute_domain/core/node_world.h"
#include "compute_domain/sandbox/node_plugin.h"

namespace cdom::program {

// Each node keeps what its IMEX supervisor and its files know over a crash of its agent, in the
// factory. What an agent is told to serve is asked when it starts.
using SettingsOfNode = std::function<core::NodeSettings(const std::string& node)>;
sandbox::NodePluginFactory agent_factory(std::string operator_namespace,
                                         SettingsOfNode settings = {});

// What containers of a node see, by the UIDs of their claims.
std::map<std::string, core::ChannelRange> injected_channels(sandbox::NodeFiles& files);

}  // namespace cdom::program
