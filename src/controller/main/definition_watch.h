// DefinitionWatch: looks at the cluster's CustomResourceDefinitions at the start and every five
// minutes, on a thread of its own, and tells by Events while this process leads. What it finds
// stops nothing: domains are served as far as the definitions allow.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "compute_domain/api/observed.h"
#include "compute_domain/base/pulses.h"
#include "compute_domain/kube/client.h"
#include "compute_domain/kube/events.h"

namespace cdom::program {

class DefinitionWatch {
 public:
  struct Ports {
    const kube::Client& client;
    const base::Clock& clock;
    base::Registry& metrics;
    base::Pulses& pulses;
  };
  // All of `ports` must outlive this.
  DefinitionWatch(const Ports& ports, std::vector<api::Definition> expected,
                  kube::EventSource source, std::function<bool()> is_leading);

 private:
  std::jthread thread_;
};

}  // namespace cdom::program
