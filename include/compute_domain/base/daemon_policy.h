// DaemonPolicy: how soon an IMEX daemon that has failed starts again, and how often it gets
// SIGUSR1.
//
// The one place of these numbers: for the supervisor, for an agent that has to repeat a request,
// and for simulations. Pure; one thread per object.
#pragma once

#include <optional>

#include "compute_domain/base/clock.h"

namespace cdom::base {

// One row of failures: it ends when a daemon has been READY for kSteady.
class DaemonPolicy {
 public:
  static constexpr Duration kFirstPause = std::chrono::milliseconds(250);  // then doubles
  // Short enough for a Prepare to see the next start within the kubelet's 45 s.
  static constexpr Duration kLastPause = std::chrono::seconds(16);
  static constexpr Duration kSteady = std::chrono::seconds(10);
  static constexpr Duration kSignalInterval = std::chrono::seconds(5);  // IMEX guide, signals

  // A daemon has ended by itself, having been READY for `ready_for`, or it never was or could not
  // be started (nullopt): how long until the next start. Zero for the first of a row that was
  // READY, as workloads wait for it.
  Duration next_pause(std::optional<Duration> ready_for);

  // The first moment at which a daemon that got its last SIGUSR1 then (nullopt: never) may get
  // another.
  static Duration next_signal(std::optional<Duration> signalled);

 private:
  int failures_ = 0;
};

}  // namespace cdom::base
