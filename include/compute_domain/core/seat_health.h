// SeatHealth: what kubelet is told of the node's seats. Values and a pure function.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/core/node_world.h"

namespace cdom::core {

struct SeatHealth {
  enum class State {
    Unknown,  // `message` says why
    Healthy,
    Unhealthy,  // in use, and what is prepared does not work: `message` says why
  };
  std::string pool, device;
  State state = State::Unknown;
  std::string message;

  friend bool operator==(const SeatHealth&, const SeatHealth&) = default;
};

// Of the seats that the node publishes, and of shared ones that are prepared on it; none before it
// knows its clique.
std::vector<SeatHealth> seat_health(const NodeWorld& world);

}  // namespace cdom::core
