// Pulses: since when each thread of a program has been in the same step, to find one that is stuck.
//
// A thread beats its pulse whenever it begins something new. One that has not done so for longer
// than `bound`, which no lawful wait reaches, is stuck. Thread-safe.
#pragma once

#include <atomic>
#include <list>
#include <mutex>
#include <string>

#include "compute_domain/base/clock.h"

namespace cdom::base {

class Pulses {
 public:
  Pulses(const Clock& clock, Duration bound) : clock_(clock), bound_(bound) {}

  // The pulse of one thread. Its Pulses must outlive it.
  class Pulse {
   public:
    Pulse(const Clock& clock, std::string thread)
        : thread_(std::move(thread)), clock_(clock), last_(clock.elapsed()) {}
    void beat() { last_ = clock_.elapsed(); }
    // It waits for nothing but its work, or has ended.
    void rest() { last_ = Duration::max(); }

   private:
    friend class Pulses;
    const std::string thread_;
    const Clock& clock_;
    std::atomic<Duration> last_;
  };
  Pulse& add(std::string thread);

  // Which threads are stuck and since when, for people; "" when none is.
  [[nodiscard]] std::string stuck() const;

 private:
  const Clock& clock_;
  const Duration bound_;
  mutable std::mutex mutex_;
  std::list<Pulse> pulses_;
};

}  // namespace cdom::base
