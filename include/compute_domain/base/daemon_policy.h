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
  // So many changes of one peer in a row get their SIGUSR1 at once, those within one interval
  // counted as one: its daemon may fail for half a minute before it runs. Each further one waits
  // for a gap that doubles.
  static constexpr int kPromptChanges = 5;
  static constexpr Duration kFirstGap = std::chrono::seconds(10);
  // About as long as a daemon that has dialled a peer in vain waits by itself.
  static constexpr Duration kLastGap = std::chrono::minutes(5);
  // A row ends with so long a time without a change. A peer that waits for it each time has no more
  // signals than one that never does.
  static constexpr Duration kQuiet = kPromptChanges * kLastGap;

  // A daemon has ended by itself, having been READY for `ready_for`, or it never was or could not
  // be started (nullopt): how long until the next start. Zero for the first of a row that was
  // READY, as workloads wait for it.
  Duration next_pause(std::optional<Duration> ready_for);

  // The first moment at which a daemon that got its last SIGUSR1 then (nullopt: never) may get
  // another.
  static Duration next_signal(std::optional<Duration> signalled);

  // A peer has changed `changes` times in a row before: how long after the last of these another
  // change of it may have its signal.
  static Duration signal_gap(int changes);

 private:
  int failures_ = 0;
};

}  // namespace cdom::base
