#include "imex/main/metrics_port.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "cli/health_server.h"
#include "compute_domain/base/log.h"

namespace cdom::program {

namespace {

constexpr base::Duration kBetweenTries = std::chrono::seconds(30);

// False when the token was stopped meanwhile.
bool pause(const std::stop_token& stop, base::Duration time) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

void wait(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait(lock, stop, [] { return false; });
}

}  // namespace

MetricsPort::MetricsPort(const cli::HealthFlags& flags, const base::Registry& metrics,
                         const base::Pulses& pulses, const base::Clock& clock) {
  if (flags.listen.empty()) return;
  keeper_ = std::jthread([flags, &metrics, &pulses, &clock](const std::stop_token& stop) {
    std::string told;
    for (;;) {
      const auto served = cli::serve_health(flags, {.metrics = metrics,
                                                    .pulses = pulses,
                                                    .not_ready = [] { return std::string(); },
                                                    .readers = nullptr,
                                                    .clock = clock});
      if (served) {
        base::log_info("serving metrics", {{"address", (*served)->address()}});
        return wait(stop);
      }
      if (const std::string& error = served.error().message; error != told) {
        base::log_warning("the metrics are not served; tried again every half minute",
                          {{"error", error}});
        told = error;
      }
      if (!pause(stop, kBetweenTries)) return;
    }
  });
}

}  // namespace cdom::program
