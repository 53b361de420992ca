// ImexSupervisor: the program that runs the node's IMEX daemon, as the agent sees it. A port.
//
// The supervisor outlives the agent: a daemon goes on while its agent is restarted, and what the
// supervisor reports does not depend on which agent asks. Every call returns at once. One thread.
#pragma once

#include <string>

#include "compute_domain/base/daemon_status.h"
#include "compute_domain/base/result.h"
#include "compute_domain/core/node_plan.h"

namespace cdom::agent {

class ImexSupervisor {
 public:
  virtual ~ImexSupervisor() = default;
  // Unavailable: the supervisor does not answer. NotFound: it has ended, and its daemon too.
  virtual base::Result<base::DaemonStatus> status() = 0;
  // How much it has reported so far, of its own accord: any call may have brought some of it.
  [[nodiscard]] virtual std::uint64_t news() const { return 0; }
  virtual base::Result<void> write_hosts(const core::WriteHosts& hosts) = 0;
  // Removes the record of those who imported from this group's daemon in an earlier run, for whom
  // it would wait. Conflict: a daemon runs.
  virtual base::Result<void> forget_importers(const std::string& group) = 0;
  // Conflict: a daemon runs already.
  virtual base::Result<void> start(const core::StartDaemon& config) = 0;
  virtual base::Result<void> signal() = 0;
  // Sends SIGTERM; success also when no daemon runs. The daemon has ended once status() says so.
  // When the supervisor itself has ended, the start that was asked for is withdrawn, so that its
  // successor starts none.
  virtual base::Result<void> stop() = 0;
  // Only that; Conflict: there is a supervisor, which may have started the daemon again.
  virtual base::Result<void> withdraw() = 0;
  // NVML is asked no more, and what asks it is killed; or it is asked again. A daemon goes on.
  virtual base::Result<void> pause_driver(bool is_paused) = 0;
};

}  // namespace cdom::agent
