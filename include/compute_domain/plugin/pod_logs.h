// pod_logs: the last lines that the operator's own pods have logged.
//
// Only reads. What cannot be read is named, and the rest is read all the same; only a node that
// does not answer is not asked again.
#pragma once

#include <cstddef>
#include <functional>
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

// Gets sentences for people, at once: what is waited for, and what cannot be read.
using TellPerson = std::function<void(const std::string&)>;

// Of the controller's pods, then of those on nodes that are not ready, then of others, by name, up
// to kMostLoggedPods.
std::vector<PodLog> read_logs(const kube::Client& client, const ClusterView& view,
                              const TellPerson& tell);

}  // namespace cdom::plugin
