// DeviceHealth: what the agent reports to kubelet of the node's devices. Values and a pure
// function.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/core/node_world.h"

namespace cdom::core {

struct DeviceHealth {
  enum class State {
    Unknown,  // `message` says why
    Healthy,
    Unhealthy,  // in use, and what is prepared does not work: `message` says why
  };
  std::string pool, device;
  State state = State::Unknown;
  std::string message;

  friend bool operator==(const DeviceHealth&, const DeviceHealth&) = default;
};

// The health of the devices that the node publishes, and of shared ones that are prepared on it;
// empty before the node knows its clique.
std::vector<DeviceHealth> device_health(const NodeWorld& world);

}  // namespace cdom::core
