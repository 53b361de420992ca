// Where a command's ClusterView comes from: a cluster, or a bundle.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/base/result.h"
#include "compute_domain/plugin/cluster_view.h"
#include "compute_domain/plugin/pod_logs.h"
#include "plugin/main/plugin_flags.h"

namespace cdom::program {

struct SourcedView {
  plugin::ClusterView view;
  std::string source;  // for people: "https://10.0.0.1:6443 (context prod)", "bundle b.tar.gz"
  std::vector<plugin::PodLog> logs = {};
};

// Errors are one sentence for people. Logs are those of a cluster, where `tell_of_logs` is set.
base::Result<SourcedView> view_of(const PluginFlags& flags,
                                  const plugin::TellPerson& tell_of_logs = nullptr);

}  // namespace cdom::program
