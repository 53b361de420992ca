// ImexOwner: whoever owns the node's IMEX daemon. A port.
//
// The owner outlives the agent: a daemon goes on while its agent is restarted, and what the owner
// tells does not depend on which agent asks. Every call returns at once. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "compute_domain/api/compute_domain_node.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"
#include "compute_domain/core/node_plan.h"

namespace cdom::agent {

struct ImexStatus {
  bool running = false;
  bool stopping = false;          // has been told to stop
  bool host_managed = false;      // it is the host's own, and only asked
  std::string group, table_hash;  // of the last start; "" when there was none in this boot
  std::int64_t slot = -1;
  std::string instance;  // a new one at each start
  // While running: Starting, Recovering or Ready, or Failed when it hangs. Else None after a stop,
  // Failed when it ended by itself.
  api::DaemonState state = api::DaemonState::None;
  std::string message;                      // of Failed
  bool answers = false;                     // the control tool has had an answer from this instance
  std::set<std::int64_t> connected;         // slots of peers
  std::string hosts_revision;               // of the last hosts file, "" when it is not there
  std::optional<base::Duration> signalled;  // this instance, on Clock::elapsed()
  std::string address;                      // that its daemons are to bind; "": it does not tell
  std::string cannot_start;                 // why no daemon could be started now; "": one could
  // Whether it has been told not to use the GPU driver (pause_driver); nullopt: it cannot be told.
  std::optional<bool> driver_paused;

  friend bool operator==(const ImexStatus&, const ImexStatus&) = default;
};

class ImexOwner {
 public:
  virtual ~ImexOwner() = default;
  // Unavailable: the owner does not answer. NotFound: it has ended, and its daemon too.
  virtual base::Result<ImexStatus> status() = 0;
  virtual base::Result<void> write_hosts(const core::WriteHosts& hosts) = 0;
  // Removes the record of those who imported from this group's daemon in an earlier run, for whom
  // it would wait. Conflict: a daemon runs.
  virtual base::Result<void> forget_importers(const std::string& group) = 0;
  // Conflict: a daemon runs already.
  virtual base::Result<void> start(const core::StartDaemon& config) = 0;
  virtual base::Result<void> signal() = 0;
  // SIGTERM; success also when none runs. It has ended once status() says so. Of an owner that has
  // ended the wish is withdrawn, so that its successor starts none.
  virtual base::Result<void> stop() = 0;
  // NVML is asked no more, and what asks it is killed; or it is asked again. A daemon goes on.
  virtual base::Result<void> pause_driver(bool is_paused) = 0;
};

}  // namespace cdom::agent
