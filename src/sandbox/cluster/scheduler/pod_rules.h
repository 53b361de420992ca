// PodRules: where a pod may run beside others, by its own affinities to pods and by theirs.
//
// Which topologies they name is gathered once for a pod, so that each node is a look-up. A value.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sandbox/cluster/scheduler/node_fit.h"

namespace cdom::sandbox {

class PodRules {
 public:
  PodRules(const json& pod, const ClusterSnapshot& cluster);

  // In kube-scheduler's words; nullopt: none.
  [[nodiscard]] std::optional<std::string> reason_against(const json& node) const;

 private:
  // Nodes by the value that they have for a topology key.
  struct Places {
    std::string key;
    std::set<std::string> values;

    void add(const json& node);
    [[nodiscard]] bool contain(const json& node) const;
  };
  std::vector<Places> wanted_;    // where a pod runs that a required affinity names
  std::vector<Places> unwanted_;  // of its own anti-affinities
  std::vector<Places> refusing_;  // of those of pods that run
};

}  // namespace cdom::sandbox
