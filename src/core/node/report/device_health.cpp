#include "compute_domain/core/device_health.h"

#include "compute_domain/base/text.h"
#include "core/node/draft.h"
#include "core/node/report/slice.h"

namespace cdom::core {

namespace {

using base::cat;
using State = DeviceHealth::State;

bool has_prepared(const Checkpoint& checkpoint, const std::string& group) {
  for (const auto& [uid, claim] : checkpoint.claims) {
    if (claim.group == group && claim.phase == ClaimPhase::Completed) return true;
  }
  return false;
}

// A device whose claim is prepared works while the daemon is READY.
void judge_daemon(const NodeWorld& world, const ServedImexGroup& served, DeviceHealth& health) {
  if (!world.daemon) {
    // A supervisor that ends takes its daemon with it; one that is only slow is back in a moment.
    const bool is_gone = world.elapsed - world.supervisor_silent_since >= world.times.report_hold;
    health.state = is_gone ? State::Unhealthy : State::Unknown;
    health.message = cat("the IMEX supervisor does not answer: ", world.supervisor_error);
  } else if (is_ready_for(world.daemon, served)) {
    health.state = State::Healthy;
  } else {
    health.state = State::Unhealthy;
    const std::string what = is_running_for(world.daemon, served) ? "the IMEX daemon is not READY"
                                                                  : "the IMEX daemon does not run";
    const std::string& why = world.daemon->message;
    const bool is_of_it = world.daemon->group == served.group;
    health.message = why.empty() || !is_of_it ? what : cat(what, ": ", why);
  }
}

}  // namespace

std::vector<DeviceHealth> device_health(const NodeWorld& world) {
  const Checkpoint& checkpoint = world.checkpoint;
  if (!checkpoint.clique) return {};
  DeviceHealth health{
      .pool = world.self.name, .device = {}, .state = State::Healthy, .message = {}};
  if (checkpoint.served && has_prepared(checkpoint, checkpoint.served->group)) {
    judge_daemon(world, *checkpoint.served, health);
  } else if (!world.fabric.error.empty()) {
    health.state = State::Unknown;
    health.message = cat("the fabric cannot be read: ", world.fabric.error);
  }
  std::vector<DeviceHealth> devices;
  for (std::string& name : device_names(checkpoint, world.settings)) {
    health.device = std::move(name);
    devices.push_back(health);
  }
  for (const auto& [uid, claim] : checkpoint.claims) {
    const bool is_served = checkpoint.served && claim.group == checkpoint.served->group;
    if (!is_served || claim.phase != ClaimPhase::Completed) continue;
    for (const DeviceRef& held : claim.devices) {
      if (held.pool == health.pool) continue;
      devices.push_back({held.pool, held.device, health.state, health.message});
    }
  }
  return devices;
}

}  // namespace cdom::core
