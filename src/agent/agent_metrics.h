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
  explicit AgentMetrics(base::Registry* registry);

  enum class Outcome {
    Prepared,
    Failed,   // kubelet tries again
    Refused,  // no repetition can help
  };
  // The answer to a question that kubelet asked `took` ago.
  void answered_prepare(Outcome outcome, base::Duration took) const;
  void answered_unprepare(base::Duration took) const;

  // What the node is now: its daemon, the calls that wait, and what is prepared.
  void see(const core::NodeWorld& world);

 private:
  void see_daemon(const std::optional<core::SeenDaemon>& daemon);
  void answered(const std::string& operation, base::Duration took) const;
  base::Number& refused_prepares() const;  // counted from 0
  void count_start(const core::SeenDaemon& daemon);

  base::Registry* const registry_;
  std::optional<std::string> state_;  // that the gauge shows
  std::string group_, instance_;      // of the daemon seen last; no instance once it was stopped
};

}  // namespace cdom::agent
