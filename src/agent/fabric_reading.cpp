#include "compute_domain/agent/fabric_reading.h"

#include <utility>

namespace cdom::agent {

core::FabricReading reading_of(const FabricFacts& facts, FabricMode mode) {
  nvidia::FabricVerdict verdict = nvidia::verdict_of(facts, mode);
  core::FabricReading reading{std::move(verdict.clique), std::move(verdict.error)};
  if (!reading.clique) return reading;
  reading.sees_gpus = !facts.gpus.empty();
  if (!verdict.old_driver.empty()) {
    reading.faults.push_back({core::kFaultDriver, "DriverTooOld", std::move(verdict.old_driver)});
  }
  if (!verdict.unhealthy.empty()) {
    reading.faults.push_back(
        {core::kFaultFabricHealth, "FabricUnhealthy", std::move(verdict.unhealthy)});
  }
  return reading;
}

}  // namespace cdom::agent
