// SupervisorMetrics: what a supervisor counts of its IMEX daemon, and what it knows of the fabric.
// Without a registry it counts nothing.
//
// The number of series is fixed: a state, a peer's state, a question and an outcome have one of
// the values that are known, and nothing names a node, a group or an instance. All but the two
// times and the fabric's errors are there from the start, so that a rate finds the first of a kind.
// The loop updates atomic numbers, so a scrape does not hold it up, except perhaps when one of
// these gets its first value. One thread; others may render the registry.
#pragma once

#include <map>
#include <utility>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/daemon_status.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/nvidia/fabric_verdict.h"
#include "imex/daemon/daemon_keeper.h"
#include "imex/process/tool_answer.h"

namespace cdom::imex {

class SupervisorMetrics {
 public:
  // Both must outlive it. `registry` may be null.
  SupervisorMetrics(base::Registry* registry, const base::Clock& clock);

  // What the keeper says of its daemon now.
  void see(const DaemonKeeper& keeper);
  // What follows from NVML's last answer.
  void see(const nvidia::FabricVerdict& fabric);
  void started();
  void failed_to_start();
  // The control tool has answered, and the keeper has heard it.
  void answered(AskTool::Question question, ToolAnswer::Outcome outcome,
                const DaemonKeeper& keeper);

 private:
  base::Registry* const registry_;
  const base::Clock& clock_;
  std::map<base::DaemonPhase, base::Number*> states_;
  std::map<char, base::Number*> peers_;  // by connection letter
  std::map<std::pair<AskTool::Question, ToolAnswer::Outcome>, base::Number*> questions_;
  base::Number* starts_ = nullptr;
  base::Number* failed_starts_ = nullptr;
  base::Number* deaths_ = nullptr;
  // Null until they are known: what is 0 would be shown as 1970.
  base::Number* start_time_ = nullptr;
  base::Number* ready_time_ = nullptr;
  // Null until NVML has answered: what is 0 would be shown as well.
  base::Number* unreadable_ = nullptr;
  base::Number* unhealthy_ = nullptr;
};

}  // namespace cdom::imex
