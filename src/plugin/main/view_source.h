// Where a command's ClusterView comes from: a cluster, or a bundle.
#pragma once

#include <string>

#include "compute_domain/base/result.h"
#include "compute_domain/plugin/cluster_view.h"
#include "compute_domain/plugin/pod_logs.h"
#include "plugin/main/plugin_flags.h"

namespace cdom::program {

struct SourcedView {
  plugin::ClusterView view;
  std::string source;  // for people: "https://10.0.0.1:6443 (context prod)", "bundle b.tar.gz"
  plugin::PodLogs logs = {};
};

// Errors are one sentence for people. Logs are those of a cluster, where they are wanted.
base::Result<SourcedView> view_of(const PluginFlags& flags, bool wants_logs = false);

}  // namespace cdom::program
