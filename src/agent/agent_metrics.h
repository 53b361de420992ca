// AgentMetrics: what one agent counts of its node. Without a registry it counts nothing.
#pragma once

#include <optional>
#include <string>

#include "compute_domain/agent/mailbox.h"
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
  // Thread-safe.
  void answered(Operation operation, const CallAnswer& answer) const;

  // What the node is now: its daemon, the calls that wait, and what is prepared.
  void see(const core::NodeWorld& world);

 private:
  void see_daemon(const std::optional<core::SeenDaemon>& daemon);
  void answered_prepare(const CallAnswer& answer) const;
  base::Number& refused_prepares() const;  // counted from 0
  base::Number& failed_unprepares() const;
  void count_start(const core::SeenDaemon& daemon);

  base::Registry* const registry_;
  std::optional<std::string> state_;  // that the gauge shows
  std::string group_, instance_;      // of the daemon seen last; no instance once it was stopped
};

}  // namespace cdom::agent
