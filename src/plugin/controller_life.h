// ControllerLife: whether a controller works, by its Lease and its Deployment. Pure.
#pragma once

#include <string>

#include "compute_domain/plugin/cluster_view.h"

namespace cdom::plugin {

struct ControllerLife {
  enum class State {
    Works,
    Silent,   // there is one, and it does nothing
    Missing,  // nothing here is one
    Unseen,   // domains are looked after, and it cannot be seen by whom
  };
  State state = State::Missing;
  std::string found;    // "pod-1 holds the Lease, renewed 2s ago"
  std::string remedy;   // "" when it works
  std::string command;  // that looks closer; "" for none

  // Whether what waits for the controller waits in vain.
  [[nodiscard]] bool is_away() const { return state == State::Silent || state == State::Missing; }
};

ControllerLife controller_life(const ClusterView& view);

}  // namespace cdom::plugin
