#include "compute_domain/agent/imex_fabric.h"

#include <utility>

#include "compute_domain/base/text.h"

namespace cdom::agent {

namespace {

// Longer than the supervisor's patience with NVML.
constexpr base::Duration kFirstPatience = std::chrono::seconds(15);

}  // namespace

core::FabricReading ImexFabric::read() {
  const auto connected = supervisor_.status();
  const std::optional<FabricFacts>& reported = supervisor_.fabric();
  if (!reported) {
    if (clock_.elapsed() - begin_ < kFirstPatience) return {};
    if (connected && connected->driver_paused.value_or(false)) {
      return {std::nullopt, "NVML is not asked while the GPU driver is being replaced"};
    }
    return {std::nullopt,
            connected
                ? "compute-domain-imex on this node reports no NVLink fabric: it is older than "
                  "the agent; drain the node and delete its pod, so that it is updated"
                : connected.error().message};
  }
  if (reported == facts_) return last_;
  facts_ = reported;
  core::FabricReading reading = reading_of(*reported, mode_);
  if (reading.clique == "" && !clique_.empty()) {
    reading = {std::nullopt, base::cat("the GPUs were in NVLink clique ", clique_,
                                       " and now say that they are in none; if that is meant, "
                                       "restart the agent on this node")};
  }
  // What a driver that does not answer has said of the node before still holds.
  if (!reading.clique) reading.faults = std::move(last_.faults);
  if (reading.clique) clique_ = *reading.clique;
  last_ = std::move(reading);
  return last_;
}

}  // namespace cdom::agent
