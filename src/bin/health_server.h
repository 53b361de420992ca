// Health server: /healthz, /readyz and /metrics of a program.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "compute_domain/base/metrics.h"
#include "compute_domain/base/pulses.h"
#include "compute_domain/base/result.h"
#include "compute_domain/http/server.h"

namespace cdom::bin {

struct HealthFlags {
  std::string listen;                     // may be ":8080", for all addresses; empty for none
  std::string metrics_path = "/metrics";  // empty: metrics are not shown
};

// "" when the values make sense, else what is wrong with which flag.
std::string mistake_in(const HealthFlags& flags);

// `not_ready` gives the reason why the program is not ready, "" when it is; a program with a thread
// that is stuck is not healthy.
base::Result<std::unique_ptr<http::Server>> serve_health(const HealthFlags& flags,
                                                         const base::Registry& metrics,
                                                         const base::Pulses& pulses,
                                                         std::function<std::string()> not_ready);

}  // namespace cdom::bin
