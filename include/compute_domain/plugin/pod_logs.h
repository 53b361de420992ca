// pod_logs: the last lines that the operator's own pods have logged.
//
// Only reads. What cannot be read is named, and the rest is read all the same.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compute_domain/kube/client.h"
#include "compute_domain/plugin/cluster_view.h"

namespace cdom::plugin {

inline constexpr std::size_t kMostLoggedPods = 40;
inline constexpr int kMostLogLines = 2000;  // of a container

struct PodLog {
  std::string ns, pod, container;
  bool is_previous = false;  // of the container that was there before the last restart
  std::string text;

  friend bool operator==(const PodLog&, const PodLog&) = default;
};

struct PodLogs {
  std::vector<PodLog> logs;
  std::vector<std::string> problems;  // sentences
};

// Of the controller's pods, then of those on nodes that are not ready, then of others, by name, up
// to kMostLoggedPods.
PodLogs read_logs(const kube::Client& client, const ClusterView& view);

}  // namespace cdom::plugin
