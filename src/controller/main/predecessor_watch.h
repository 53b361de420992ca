// PredecessorWatch: looks for NVIDIA's ComputeDomain controller once a minute, on a thread of its
// own: one that is installed later must not work beside this one either.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "compute_domain/base/pulses.h"
#include "compute_domain/kube/client.h"

namespace cdom::program {

class PredecessorWatch {
 public:
  // `on_found` is called once, on that thread, with what was found. `client` and `pulses` must
  // outlive this.
  PredecessorWatch(const kube::Client& client, base::Pulses& pulses, std::string own_namespace,
                   std::function<void(const std::string&)> on_found,
                   base::Duration between_looks = std::chrono::minutes(1));

 private:
  std::jthread thread_;
};

}  // namespace cdom::program
