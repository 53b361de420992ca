// LeaderElection: of several processes that share a Lease one leads, as client-go elects it.
//
// How it goes: 1. A process takes a Lease that has expired, by a write with a precondition. 2. The
// leader renews it every retry period. 3. A leader that cannot renew for the renew deadline has
// lost for good. What it guarantees: is_leading() is false from the renew deadline after the start
// of the last renewal that succeeded; nobody else takes over before the lease duration, which is
// longer, has passed since then; a process that has led and lost never leads again.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "compute_domain/api/core.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/base/random.h"
#include "compute_domain/kube/client.h"

namespace cdom::kube {

struct LeaderElectionOptions {
  api::ObjectName lease;
  std::string identity;  // differs from process to process: "<pod>-<uuid>"
  base::Duration lease_duration = std::chrono::seconds(15);
  base::Duration renew_deadline = std::chrono::seconds(10);
  base::Duration retry_period = std::chrono::seconds(2);
  std::uint64_t seed = 0;  // of jitter
};

// What is wrong with the periods, "" when nothing is: the duration must exceed the deadline, and
// that 1.2 retry periods; the duration is kept in whole seconds.
std::string mistake_in(const LeaderElectionOptions& options);

class LeaderElection {
 public:
  enum class Standing { Waiting, Leading, Lost };

  // `client` should have a request timeout shorter than the renew deadline. `metrics` may be null.
  LeaderElection(const Client& client, const base::Clock& clock, LeaderElectionOptions options,
                 base::Registry* metrics = nullptr);

  // By this process' own clock, and whatever its threads are doing. Thread-safe.
  [[nodiscard]] bool is_leading() const;

  // One try to acquire or to renew, when it is due; whether it was. A Lease has expired when nobody
  // holds it, or when its record has not changed for its own duration: times in the record are
  // never compared with this process' clock. A renewal whose answer comes after the renew deadline
  // changes nothing. This and all below are for one thread.
  bool step();
  [[nodiscard]] base::Duration next_due() const { return next_; }
  [[nodiscard]] Standing standing() const;
  // Steps until `token` asks to stop or leadership is lost; calls `before_step` each time.
  Standing run(const std::stop_token& token, const std::function<void()>& before_step = {});
  // Gives the Lease up, so that another need not wait; only after the last write of this process.
  base::Result<void> release();

  // Who holds the Lease, as far as this process knows; thread-safe.
  [[nodiscard]] std::string holder() const;

 private:
  // When leadership ends, on the clock; or one of these.
  using Until = base::Duration::rep;
  static constexpr Until kNeverLed = 0;
  static constexpr Until kLost = -1;

  bool try_acquire_or_renew();
  bool lead_until(base::Duration end);
  void lose();
  bool create();
  bool take(const api::Lease& seen);
  void observe(const api::Lease& lease);
  [[nodiscard]] bool holds() const { return observed_ && observed_->holder == options_.identity; }
  void report_trouble(const base::Error& error);

  const Client& client_;
  const base::Clock& clock_;
  const LeaderElectionOptions options_;
  base::Registry* const metrics_;
  base::Random random_;

  std::optional<api::Lease> observed_;  // the record as last seen
  base::Duration observed_at_{};        // when it was first seen so
  base::Duration next_{};
  std::string trouble_;  // logged once, not every two seconds
  // The thread that reads that the time is over makes it kLost, so that no renewal can come after.
  mutable std::atomic<Until> leads_until_{kNeverLed};
  mutable std::mutex mutex_;  // guards holder_
  std::string holder_;
};

}  // namespace cdom::kube
