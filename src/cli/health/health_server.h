// Health server: /healthz, /readyz and /metrics of a program, all at one port.
//
// With TLS all three are HTTPS, with the certificate that is in its files. With authentication
// /metrics asks who reads it: 401 without a valid token, 403 for a user who may not, 500 while the
// API server does not answer, 503 when too many wait. The other two, for kubelet, never do.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/health/health_flags.h"
#include "cli/health/metrics_readers.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/base/pulses.h"
#include "compute_domain/base/result.h"
#include "compute_domain/http/server.h"

namespace cdom::cli {

// All that is referred to must outlive the server.
struct HealthParts {
  const base::Registry& metrics;
  const base::Pulses& pulses;               // a program with a thread that is stuck is not healthy
  std::function<std::string()> not_ready;   // why; "" when the program is ready
  std::unique_ptr<MetricsReaders> readers;  // null without authentication
  const base::Clock& clock;
  // What else /metrics has, in the Prometheus text format: metrics that are not in `metrics`.
  std::function<std::string()> more_metrics = [] { return std::string(); };
  base::Duration between_looks = std::chrono::seconds(10);  // at the certificate's files
};

// Invalid: an address or a certificate that cannot be used, with its flag.
base::Result<std::unique_ptr<http::Server>> serve_health(const HealthFlags& flags,
                                                         HealthParts parts);

}  // namespace cdom::cli
