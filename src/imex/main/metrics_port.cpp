#include "imex/main/metrics_port.h"

#include <exception>
#include <utility>

#include "compute_domain/base/log.h"

namespace cdom::program {

namespace {

constexpr base::Duration kNothingToDo = std::chrono::hours(1);

void tell_not_served(const std::string& error) {
  base::log_warning("the metrics are not served; tried again every half minute",
                    {{"error", error}});
}

}  // namespace

MetricsPort::MetricsPort(cli::HealthFlags flags, const base::Registry& metrics,
                         const base::Pulses& pulses, const base::Clock& clock)
    : MetricsPort(std::move(flags), metrics, pulses, clock, Means{}) {}

MetricsPort::MetricsPort(cli::HealthFlags flags, const base::Registry& metrics,
                         const base::Pulses& pulses, const base::Clock& clock, Means means)
    : flags_(std::move(flags)),
      metrics_(metrics),
      pulses_(pulses),
      clock_(clock),
      means_(std::move(means)),
      due_(clock.elapsed()) {
  if (flags_.listen.empty()) return;
  const std::string mistake = cli::mistake_in(flags_);
  is_wanted_ = mistake.empty();
  if (!is_wanted_) {
    base::log_warning("the metrics are not served; change the flag", {{"error", mistake}});
  }
}

base::Duration MetricsPort::tend() {
  if (!is_wanted_) return kNothingToDo;
  if (!is_kept_ && clock_.elapsed() >= due_) {
    due_ = clock_.elapsed() + means_.between_tries;
    start();
  }
  return means_.between_tries;
}

// Where the container may have no more processes the system gives no thread.
void MetricsPort::start() {
  is_kept_ = true;
  try {
    keeper_ = means_.start([this](const std::stop_token& stop) { keep(stop); });
    has_warned_ = false;
  } catch (const std::exception& e) {
    is_kept_ = false;
    if (!std::exchange(has_warned_, true)) tell_not_served(e.what());
  }
}

// What is thrown here would end the supervisor, and with it the daemon.
void MetricsPort::keep(const std::stop_token& stop) {
  try {
    std::string logged;
    while (!stop.stop_requested()) {
      const std::string error = serve_until(stop);
      if (!error.empty() && error != logged) tell_not_served(error);
      logged = error;
      sleep(stop, means_.between_tries);
    }
  } catch (const std::exception&) {
    is_kept_ = false;  // no memory for a line of the log; tend() starts another
  }
}

// What keeps it from serving.
std::string MetricsPort::serve_until(const std::stop_token& stop) {
  try {
    const auto served = means_.serve(flags_, {.metrics = metrics_,
                                              .pulses = pulses_,
                                              .not_ready = [] { return std::string(); },
                                              .readers = nullptr,
                                              .clock = clock_});
    if (!served) return served.error().message;
    base::log_info("serving metrics", {{"address", (*served)->address()}});
    sleep(stop, std::nullopt);
    return "";
  } catch (const std::exception& e) {
    return e.what();
  }
}

void MetricsPort::sleep(const std::stop_token& stop, std::optional<base::Duration> time) {
  std::unique_lock lock(mutex_);
  const auto is_over = [] { return false; };
  if (time) {
    never_.wait_for(lock, stop, *time, is_over);
  } else {
    never_.wait(lock, stop, is_over);
  }
}

}  // namespace cdom::program
