#include "agent/daemon_history.h"

namespace cdom::agent {
namespace {

// READY for less than this does not end a row of failures: a daemon that dies again and again does
// not start again at once each time.
constexpr base::Duration kSteady = std::chrono::seconds(10);

}  // namespace

void DaemonHistory::see(const base::Result<ImexStatus>& status) {
  if (!status) {
    if (!silent_since_) silent_since_ = clock_.elapsed();
    error_ = status.error().message;
    is_gone_ = status.error().kind == base::ErrorKind::NotFound;
    return;
  }
  silent_since_.reset();
  if (status->running) start_failed_ = false;
  if (start_failed_) {
    view_.hosts_revision = status->hosts_revision;
    return;
  }
  see_state(*status);
}

void DaemonHistory::see_state(const ImexStatus& status) {
  const bool is_new = !seen_ || view_.instance != status.instance;
  const bool ended = view_.running && !status.running;
  const bool was_ready = view_.running && view_.state == api::DaemonState::Ready;
  if (was_ready && clock_.elapsed() - view_.since >= kSteady) view_.failures = 0;
  if (is_new || view_.state != status.state || view_.running != status.running) {
    view_.since = clock_.elapsed();
    view_.since_time = clock_.now();
  }
  if ((ended || is_new) && !status.running && status.state == api::DaemonState::Failed) {
    ++view_.failures;
    view_.ended = clock_.elapsed();
  }
  see_connections(status, is_new);
  view_.running = status.running;
  view_.stopping = status.stopping;
  view_.host_managed = status.host_managed;
  view_.group = status.group;
  view_.table_hash = status.table_hash;
  view_.slot = status.slot;
  view_.instance = status.instance;
  view_.state = status.state;
  view_.message = status.message;
  view_.answers = status.answers;
  view_.hosts_revision = status.hosts_revision;
  view_.signalled = status.signalled;
  seen_ = true;
}

void DaemonHistory::see_connections(const ImexStatus& status, bool is_new) {
  if (is_new) {
    view_.connected.clear();
    view_.disconnected.clear();
  }
  for (const std::int64_t slot : status.connected) {
    view_.connected.try_emplace(slot, clock_.elapsed());
    view_.disconnected.erase(slot);
  }
  for (auto it = view_.connected.begin(); it != view_.connected.end();) {
    if (status.connected.contains(it->first)) {
      ++it;
      continue;
    }
    view_.disconnected[it->first] = clock_.elapsed();
    it = view_.connected.erase(it);
  }
}

void DaemonHistory::see_failed_start(const std::string& group, const std::string& error) {
  if (!start_failed_ || view_.group != group) {
    view_.since = clock_.elapsed();
    view_.since_time = clock_.now();
    view_.failures = 0;
  }
  start_failed_ = true;
  ++view_.failures;
  view_.ended = clock_.elapsed();
  view_.group = group;
  view_.state = api::DaemonState::Failed;
  view_.running = view_.stopping = view_.answers = false;
  view_.message = error;
}

void DaemonHistory::show(core::NodeWorld& world) const {
  if (silent_since_) {
    world.daemon.reset();
    world.owner_error = error_;
    world.owner_has_ended = is_gone_;
    world.owner_silent_since = *silent_since_;
    return;
  }
  world.daemon = view_;
}

}  // namespace cdom::agent
