// Where a command's ClusterView comes from: a cluster, or a bundle.
#pragma once

#include <string>

#include "compute_domain/base/result.h"
#include "compute_domain/plugin/cluster_view.h"
#include "plugin/main/plugin_flags.h"

namespace cdom::program {

struct SourcedView {
  plugin::ClusterView view;
  std::string source;  // for people: "https://10.0.0.1:6443 (context prod)", "bundle b.tar.gz"
};

// Errors are one sentence for people.
base::Result<SourcedView> view_of(const PluginFlags& flags);

}  // namespace cdom::program
