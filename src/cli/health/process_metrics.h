// ProcessMetrics: what Prometheus' client libraries report of their process, under the same names
// (https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics), and which version
// of the program this is. Read from /proc/self when it is asked for.
#pragma once

#include <mutex>
#include <string>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/metrics.h"

namespace cdom::cli {

class ProcessMetrics {
 public:
  explicit ProcessMetrics(const base::Clock& clock);

  // Prometheus text format. What the system does not tell keeps its last value, or is left out.
  // Thread-safe.
  std::string render();

 private:
  void look();
  void note_start(const base::Clock& clock);

  std::mutex mutex_;
  base::Registry metrics_;
};

}  // namespace cdom::cli
