// SimulatedSupervisor: the port ImexSupervisor of the node agent, over the sandbox's simulated
// IMEX.
//
// It outlives the agent, as the real supervisor does: one per node and boot. A daemon that ends by
// itself starts again by the same policy, while somebody asks for the status. Links that change are
// looked at only now and then, as the real one asks its control tool; all else is seen at once. One
// thread.
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
  base::Result<void> withdraw() override;
  base::Result<void> pause_driver(bool is_paused) override;

  // Why the node takes no daemon; "" when it does. It is asked for each status and each start.
  void ask_of_obstacles(std::function<std::string()> cannot_start) {
    cannot_start_ = std::move(cannot_start);
  }

  // Whether status() may tell something else than the last time.
  [[nodiscard]] bool has_news() const;
  // When status() will start a daemon again, or look at links that have changed.
  [[nodiscard]] std::optional<base::Duration> next_due() const;

 private:
  void note_look();
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
  // The revision of the daemon that last_ tells of, while it runs, how many of its links had
  // changed by then, and when it was looked at.
  std::uint64_t seen_ = 0, seen_links_ = 0;
  base::Duration looked_at_{};
};

}  // namespace cdom::program
