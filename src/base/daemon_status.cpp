#include "compute_domain/base/daemon_status.h"

namespace cdom::base {

std::string_view name_of(DaemonPhase phase) {
  switch (phase) {
    case DaemonPhase::Stopped:
      return "stopped";
    case DaemonPhase::Starting:
      return "starting";
    case DaemonPhase::Recovering:
      return "recovering";
    case DaemonPhase::Ready:
      return "ready";
    case DaemonPhase::Failed:
      return "failed";
  }
  return "failed";
}

bool is_connected(const DaemonStatus& daemon, std::int64_t slot) {
  const auto peer = daemon.peers.find(slot);
  return peer != daemon.peers.end() && peer->second == kConnected;
}

bool may_start_by_itself(const DaemonStatus& daemon) {
  return !daemon.running && daemon.starts_again.value_or(daemon.phase == DaemonPhase::Failed);
}

}  // namespace cdom::base
