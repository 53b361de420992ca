// DaemonHistory: since when the IMEX daemon has been what its supervisor says it is.
//
// The supervisor tells the present; rules speak of how long. A new agent knows no past and takes
// what it sees first as having begun then. One thread.
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
  bool start_failed_ = false;  // seen_ tells of that, not of the supervisor's last word
  std::optional<base::Duration> silent_since_;
  std::string error_;
  bool is_gone_ = false;  // the supervisor, for certain
};

}  // namespace cdom::agent
