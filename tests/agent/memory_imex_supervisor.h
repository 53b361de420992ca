// MemoryImexSupervisor: an IMEX daemon that does what a test says, and keeps to the rules of the
// real one: one at a time, and a signal before its first answer ends it. Outlives agents.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "compute_domain/agent/imex_supervisor.h"
#include "compute_domain/base/text.h"

namespace cdom::agent {

class MemoryImexSupervisor : public ImexSupervisor {
 public:
  explicit MemoryImexSupervisor(const base::Clock& clock) : clock_(clock) {
    daemon.driver_paused = false;
  }

  base::DaemonStatus daemon;
  std::string hosts;
  std::optional<base::Error> error;        // of every call while it is set
  std::optional<base::Error> start_error;  // of each start
  std::uint64_t reports = 0;               // what an answer to something else may have brought
  int questions = 0;                       // for its status
  int starts = 0, stops = 0, signals = 0, forgets = 0;
  std::function<void()> before_withdrawal;

  void become_ready(const std::set<std::int64_t>& connected = {}) {
    daemon.answers = true;
    daemon.phase = base::DaemonPhase::Ready;
    daemon.peers.clear();
    for (const std::int64_t slot : connected) daemon.peers[slot] = base::kConnected;
  }
  void die(const std::string& message) {
    daemon.running = daemon.stopping = daemon.answers = false;
    daemon.phase = base::DaemonPhase::Failed;
    daemon.message = message;
    daemon.peers.clear();
  }

  [[nodiscard]] std::uint64_t news() const override { return reports; }
  base::Result<base::DaemonStatus> status() override {
    ++questions;
    // Before it is refused it says something at each attempt.
    if (error) ++reports;
    if (error) return *error;
    return daemon;
  }
  base::Result<void> write_hosts(const core::WriteHosts& file) override {
    if (error) return *error;
    hosts = file.text;
    daemon.hosts_revision = file.revision;
    return {};
  }
  base::Result<void> forget_importers(const std::string&) override {
    if (error) return *error;
    if (daemon.running) return base::Error{base::ErrorKind::Conflict, "an IMEX daemon runs"};
    ++forgets;
    return {};
  }
  base::Result<void> start(const core::StartDaemon& config) override {
    if (error) return *error;
    if (start_error) return *start_error;
    if (daemon.running) return base::Error{base::ErrorKind::Conflict, "an IMEX daemon runs"};
    base::DaemonStatus started;
    started.running = true;
    started.group = config.group;
    started.table_hash = config.table_hash;
    started.slot = config.slot;
    started.instance = base::cat("instance-", ++starts);
    started.phase = base::DaemonPhase::Starting;
    started.hosts_revision = daemon.hosts_revision;
    started.address = daemon.address;
    started.driver_paused = daemon.driver_paused;
    daemon = started;
    return {};
  }
  base::Result<void> signal() override {
    if (error) return *error;
    if (!daemon.answers) {
      die("killed by SIGUSR1");
      return {};
    }
    ++signals;
    daemon.signalled = clock_.elapsed();
    return {};
  }
  base::Result<void> withdraw() override {
    if (before_withdrawal) before_withdrawal();
    if (error && error->kind == base::ErrorKind::NotFound) return stop();
    return error ? *error : base::Error{base::ErrorKind::Conflict, "it is there again"};
  }
  base::Result<void> stop() override {
    // Of a supervisor that has ended the wish is withdrawn.
    if (error && error->kind != base::ErrorKind::NotFound) return *error;
    ++stops;
    daemon.running = daemon.answers = false;
    daemon.phase = base::DaemonPhase::Stopped;
    daemon.peers.clear();
    return {};
  }
  base::Result<void> pause_driver(bool is_paused) override {
    if (error) return *error;
    daemon.driver_paused = is_paused;
    return {};
  }

 private:
  const base::Clock& clock_;
};

}  // namespace cdom::agent
