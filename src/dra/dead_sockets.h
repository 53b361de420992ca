// Dead sockets: socket files that plugins of this driver left when they ended, for example in a pod
// that was killed. Kubelet would try to register them for ever.
#pragma once

#include "compute_domain/dra/plugin.h"

namespace cdom::dra {

// Removes those on which nobody accepts, but for the plugin's own. A plugin that starts is not
// among them, as its files appear when they already accept.
void remove_dead_sockets(const PluginOptions& options, const SocketPaths& own);

}  // namespace cdom::dra
