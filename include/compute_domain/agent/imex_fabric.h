// ImexFabric: the node's fabric as compute-domain-imex reports it. That program reads NVML in a
// process of its own, so the agent opens no device of a GPU, and a GPU driver that hangs or crashes
// harms neither program.
//
// What the supervisor reported last stands while it is away. One thread.
#pragma once

#include <optional>
#include <string>

#include "compute_domain/agent/fabric.h"
#include "compute_domain/agent/fabric_reading.h"
#include "compute_domain/agent/imex_client.h"
#include "compute_domain/base/clock.h"

namespace cdom::agent {

class ImexFabric : public Fabric {
 public:
  // `supervisor` outlives this.
  ImexFabric(ImexClient& supervisor, FabricMode mode, const base::Clock& clock)
      : supervisor_(supervisor), mode_(mode), clock_(clock), begin_(clock.elapsed()) {}

  // Neither clique nor error until the first facts, for some seconds. A node that had a clique does
  // not lose it by facts without one: that is an error until the agent starts again.
  core::FabricReading read() override;

 private:
  ImexClient& supervisor_;
  const FabricMode mode_;
  const base::Clock& clock_;
  const base::Duration begin_;
  std::optional<FabricFacts> facts_;  // of `last_`
  std::string clique_;                // the last one that was one
  core::FabricReading last_;
};

}  // namespace cdom::agent
