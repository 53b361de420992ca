// DaemonHistory: since when the IMEX daemon has been in the state that its supervisor reports.
//
// The supervisor reports only the present, and rules depend on how long a state lasts. For a new
// agent, what it sees first began at that moment. One thread.
#pragma once

#include <optional>
#include <string>

#include "compute_domain/base/daemon_policy.h"
#include "compute_domain/base/result.h"
#include "compute_domain/core/node_world.h"

namespace cdom::agent {

class DaemonHistory {
 public:
  explicit DaemonHistory(const base::Clock& clock) : clock_(clock) {}

  void see(const base::Result<base::DaemonStatus>& status);
  // The supervisor refused to start a daemon for this group.
  void see_failed_start(const std::string& group, const std::string& error);

  void show(core::NodeWorld& world) const;

 private:
  void see_status(const base::DaemonStatus& status);
  void see_connections(const base::DaemonStatus& status, bool is_new);

  const base::Clock& clock_;
  core::SeenDaemon seen_;
  base::DaemonPolicy policy_;
  bool has_seen_ = false;
  bool start_failed_ = false;  // seen_ shows that, not the supervisor's last report
  std::optional<base::Duration> silent_since_;
  std::string error_;
  bool is_gone_ = false;  // the supervisor, for certain
};

}  // namespace cdom::agent
