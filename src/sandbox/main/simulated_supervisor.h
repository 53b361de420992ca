// SimulatedSupervisor: the port ImexSupervisor of the node agent, over the sandbox's simulated
// IMEX.
//
// It outlives the agent, as the real supervisor does: one per node and boot. A daemon that ends by
// itself starts again by the same policy, while somebody asks for the status. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compute_domain/agent/imex_supervisor.h"
#include "compute_domain/base/daemon_policy.h"
#include "compute_domain/sandbox/imex.h"

namespace cdom::program {

class SimulatedSupervisor : public agent::ImexSupervisor {
 public:
  SimulatedSupervisor(sandbox::Imex& imex, const base::Clock& clock) : imex_(imex), clock_(clock) {
    last_.driver_paused = false;
  }

  base::Result<base::DaemonStatus> status() override;
  base::Result<void> write_hosts(const core::WriteHosts& hosts) override;
  base::Result<void> forget_importers(const std::string& group) override;
  base::Result<void> start(const core::StartDaemon& config) override;
  base::Result<void> signal() override;
  base::Result<void> stop() override;
  base::Result<void> pause_driver(bool is_paused) override;

  // Why the node takes no daemon; "" when it does. It is asked for each status and each start.
  void ask_of_obstacles(std::function<std::string()> cannot_start) {
    cannot_start_ = std::move(cannot_start);
  }

  // When status() will start a daemon again.
  [[nodiscard]] std::optional<base::Duration> next_due() const { return start_at_; }

 private:
  void see_running();
  void see_ended();
  void connect_slots(const std::vector<sandbox::ImexPeer>& peers);

  sandbox::Imex& imex_;
  const base::Clock& clock_;
  base::DaemonStatus last_;
  bool is_told_to_stop_ = false;
  core::StartDaemon wanted_;
  base::DaemonPolicy policy_;
  std::function<std::string()> cannot_start_ = [] { return std::string(); };
  std::optional<base::Duration> ready_at_, start_at_;
  std::uint64_t seen_ = 0;  // the revision of the daemon that last_ tells of, while it runs
};

}  // namespace cdom::program
