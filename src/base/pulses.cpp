#include "compute_domain/base/pulses.h"

#include <utility>
#include <vector>

#include "compute_domain/base/text.h"

namespace cdom::base {

Pulses::Pulse& Pulses::add(std::string thread) {
  const std::lock_guard lock(mutex_);
  return pulses_.emplace_back(clock_, std::move(thread));
}

std::string Pulses::stuck() const {
  const std::lock_guard lock(mutex_);
  const Duration now = clock_.elapsed();
  std::vector<std::string> lines;
  for (const Pulse& pulse : pulses_) {
    const Duration last = pulse.last_;
    if (last >= now || now - last <= bound_) continue;
    lines.push_back(
        cat("thread ", pulse.thread_, " has been stuck for ", short_duration(now - last)));
  }
  return join(lines, "; ");
}

}  // namespace cdom::base
