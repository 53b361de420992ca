// Where a command's ClusterView comes from: a cluster, or a bundle.
#pragma once

#include "compute_domain/base/result.h"
#include "compute_domain/plugin/cluster_view.h"
#include "plugin/main/plugin_flags.h"

namespace cdom::program {

// Errors are one sentence for people.
base::Result<plugin::ClusterView> view_of(const PluginFlags& flags);

}  // namespace cdom::program
