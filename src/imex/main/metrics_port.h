// MetricsPort: /metrics, /healthz and /readyz of the supervisor, which goes on without them.
//
// An address or a certificate that cannot be used is logged, and tried again every half minute: the
// daemon, and the workloads that use it, depend on no port. The supervisor has no token to ask the
// API server who reads its metrics: whoever can connect may.
#pragma once

#include <string>
#include <thread>

#include "cli/health_flags.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/base/pulses.h"

namespace cdom::program {

class MetricsPort {
 public:
  // All that is referred to must outlive it. Without an address it does nothing.
  MetricsPort(const cli::HealthFlags& flags, const base::Registry& metrics,
              const base::Pulses& pulses, const base::Clock& clock);

 private:
  std::jthread keeper_;  // of the server: waits for the end, and before for what it lacks
};

}  // namespace cdom::program
