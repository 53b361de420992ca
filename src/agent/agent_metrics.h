// AgentMetrics: what one agent counts of its node. Without a registry it counts nothing.
#pragma once

#include <optional>
#include <string>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/core/node_world.h"

namespace cdom::agent {

class AgentMetrics {
 public:
  explicit AgentMetrics(base::Registry* registry) : registry_(registry) {}

  enum class Outcome {
    Prepared,
    Failed,   // kubelet tries again
    Refused,  // no repetition can help
  };
  // The answer to a question that kubelet asked `took` ago.
  void answered_prepare(Outcome outcome, base::Duration took) const;
  void answered_unprepare() const;

  // The daemon as its supervisor tells it now; nullopt: it does not answer.
  void see(const std::optional<core::SeenDaemon>& daemon);

 private:
  void count_start(const core::SeenDaemon& daemon);

  base::Registry* const registry_;
  std::optional<std::string> state_;  // that the gauge shows
  std::string group_, instance_;      // of the daemon seen last
};

}  // namespace cdom::agent
