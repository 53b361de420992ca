// Health server: /healthz, /readyz and /metrics of a program, all at one port.
//
// With TLS all three are HTTPS, with the certificate that is in its files: kubelet's probes verify
// none.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bin/health_flags.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/base/pulses.h"
#include "compute_domain/base/result.h"
#include "compute_domain/http/server.h"

namespace cdom::bin {

// All that is referred to must outlive the server.
struct HealthParts {
  const base::Registry& metrics;
  const base::Pulses& pulses;              // a program with a thread that is stuck is not healthy
  std::function<std::string()> not_ready;  // why; "" when the program is ready
  base::Duration between_looks = std::chrono::seconds(10);  // at the certificate's files
};

// Invalid: an address or a certificate that cannot be used, with its flag.
base::Result<std::unique_ptr<http::Server>> serve_health(const HealthFlags& flags,
                                                         HealthParts parts);

}  // namespace cdom::bin
