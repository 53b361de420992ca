// MetricsPort: /metrics, /healthz and /readyz of the supervisor, which goes on without them.
//
// An address, a certificate or a thread that cannot be had is logged, and tried again every half
// minute; flags that cannot be meant are logged once: the daemon, and the workloads that use it,
// depend on no port. The supervisor has no token to ask the API server who reads its metrics:
// whoever can connect may. One thread, which calls tend() again and again.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "cli/health/health_flags.h"
#include "cli/health/health_server.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/base/pulses.h"

namespace cdom::program {

class MetricsPort {
 public:
  using Work = std::function<void(const std::stop_token&)>;
  // What may fail, and when it is tried again.
  struct Means {
    std::function<decltype(cli::serve_health)> serve = cli::serve_health;
    std::function<std::jthread(const Work&)> start = [](const Work& work) {
      return std::jthread(work);
    };
    base::Duration between_tries = std::chrono::seconds(30);
  };

  // All that is referred to must outlive it.
  MetricsPort(cli::HealthFlags flags, const base::Registry& metrics, const base::Pulses& pulses,
              const base::Clock& clock);
  MetricsPort(cli::HealthFlags flags, const base::Registry& metrics, const base::Pulses& pulses,
              const base::Clock& clock, Means means);

  // Starts the thread that serves, where it is due; throws nothing. Gives how long at most until it
  // is to be called again.
  base::Duration tend();

 private:
  void start();
  void keep(const std::stop_token& stop);
  std::string serve_until(const std::stop_token& stop);
  void sleep(const std::stop_token& stop, std::optional<base::Duration> time);

  const cli::HealthFlags flags_;
  const base::Registry& metrics_;
  const base::Pulses& pulses_;
  const base::Clock& clock_;
  const Means means_;
  bool is_wanted_ = false;
  bool has_warned_ = false;  // that there is no thread
  base::Duration due_{};
  std::mutex mutex_;
  std::condition_variable_any never_;
  std::atomic<bool> is_kept_ = false;
  std::jthread keeper_;  // of the server: waits for the end, and before for what it lacks
};

}  // namespace cdom::program
