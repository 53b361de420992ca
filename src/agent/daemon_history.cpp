#include "agent/daemon_history.h"

namespace cdom::agent {

using base::DaemonPhase;
using base::DaemonStatus;

void DaemonHistory::see(const base::Result<DaemonStatus>& status) {
  if (!status) {
    if (!silent_since_) silent_since_ = clock_.elapsed();
    error_ = status.error().message;
    is_gone_ = status.error().kind == base::ErrorKind::NotFound;
    return;
  }
  silent_since_.reset();
  if (status->running || status->starts_again.value_or(false)) start_failed_ = false;
  if (start_failed_) {
    seen_.hosts_revision = status->hosts_revision;
    seen_.driver_paused = status->driver_paused;
    return;
  }
  see_status(*status);
}

void DaemonHistory::see_status(const DaemonStatus& status) {
  const base::Duration now = clock_.elapsed();
  const bool is_new = !has_seen_ || seen_.instance != status.instance;
  const bool ended = seen_.running && !status.running;
  const bool was_ready = seen_.running && seen_.phase == DaemonPhase::Ready;
  const auto ready_for = was_ready ? std::optional(now - seen_.since) : std::nullopt;
  if ((ended || is_new) && !status.running && status.phase == DaemonPhase::Failed) {
    seen_.due = now + policy_.next_pause(ready_for);
  }
  if (is_new || seen_.phase != status.phase || seen_.running != status.running) {
    seen_.since = now;
    seen_.since_time = clock_.now();
  }
  see_connections(status, is_new);
  static_cast<DaemonStatus&>(seen_) = status;
  has_seen_ = true;
}

void DaemonHistory::see_connections(const DaemonStatus& status, bool is_new) {
  if (is_new) return seen_.disconnected.clear();
  for (const auto& [slot, letter] : status.peers) {
    if (letter == base::kConnected) seen_.disconnected.erase(slot);
  }
  for (const auto& [slot, letter] : seen_.peers) {
    const bool has_broken_off = letter == base::kConnected && !is_connected(status, slot);
    if (has_broken_off) seen_.disconnected[slot] = clock_.elapsed();
  }
}

void DaemonHistory::see_failed_start(const std::string& group, const std::string& error) {
  if (!start_failed_ || seen_.group != group) {
    seen_.since = clock_.elapsed();
    seen_.since_time = clock_.now();
    policy_ = {};
  }
  start_failed_ = true;
  seen_.due = clock_.elapsed() + policy_.next_pause(std::nullopt);
  seen_.group = group;
  seen_.phase = DaemonPhase::Failed;
  seen_.running = seen_.stopping = seen_.answers = false;
  seen_.starts_again = false;
  seen_.message = error;
}

void DaemonHistory::show(core::NodeWorld& world) const {
  if (silent_since_) {
    world.daemon.reset();
    world.supervisor_error = error_;
    world.supervisor_has_ended = is_gone_;
    world.supervisor_silent_since = *silent_since_;
    return;
  }
  world.daemon = seen_;
}

}  // namespace cdom::agent
