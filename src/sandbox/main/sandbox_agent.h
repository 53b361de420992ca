// The real node agent behind the sandbox's port NodePlugin.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "compute_domain/core/node_world.h"
#include "compute_domain/sandbox/node_plugin.h"
#include "sandbox/main/agent_pages.h"

namespace cdom::program {

// Each node keeps what its IMEX supervisor and its files know over a crash of its agent, in the
// factory. What an agent is told to serve is asked when it starts. With `pages` each has its
// metrics there while it runs.
using SettingsOfNode = std::function<core::NodeSettings(const std::string& node)>;
sandbox::NodePluginFactory agent_factory(std::string operator_namespace,
                                         SettingsOfNode settings = {},
                                         std::shared_ptr<AgentPages> pages = nullptr);

// What containers of a node see, by the UIDs of their claims.
std::map<std::string, core::ChannelRange> injected_channels(sandbox::NodeFiles& files);

}  // namespace cdom::program
