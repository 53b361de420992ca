#include <algorithm>
#include <utility>

#include "compute_domain/base/text.h"
#include "compute_domain/node_check/gather.h"

namespace cdom::node_check {

using base::cat;

namespace {

// What the rules say of this GPU alone, without its name.
GpuFabric gpu_of(std::size_t index, nvidia::GpuFacts gpu, nvidia::FabricMode mode) {
  GpuFabric found{.name = cat("GPU ", index)};
  found.index = index;
  if (!gpu.uuid.empty()) found.name += cat(" (", gpu.uuid, ")");
  if (gpu.health == nvidia::FabricHealth::LimitedCapacity) found.warning = "limited capacity";
  gpu.uuid.clear();
  nvidia::FabricFacts alone;
  alone.gpus = {std::move(gpu)};
  const auto verdict = nvidia::verdict_of(alone, mode);
  found.clique = verdict.clique.value_or("");
  std::string fault = verdict.error.empty() ? verdict.unhealthy : verdict.error;
  constexpr std::string_view kName = "GPU 0 ";
  if (fault.starts_with(kName)) fault.erase(0, kName.size());
  // What to do is a column of its own.
  found.fault = fault.substr(0, fault.find(": see the rack"));
  return found;
}

}  // namespace

Fabric fabric_of(const nvidia::FabricFacts& facts, nvidia::FabricMode mode) {
  Fabric fabric{.driver_version = facts.driver_version,
                .is_persistent = nvidia::is_persistent(facts).value_or(false)};
  for (std::size_t i = 0; i < facts.gpus.size(); ++i) {
    fabric.gpus.push_back(gpu_of(i, facts.gpus[i], mode));
  }
  const auto verdict = nvidia::verdict_of(facts, mode);
  fabric.clique = verdict.clique.value_or("");
  // Those of single GPUs have rows of their own.
  const auto has_fault = [](const auto& gpu) { return !gpu.fault.empty(); };
  if (std::ranges::none_of(fabric.gpus, has_fault)) fabric.error = verdict.error;
  return fabric;
}

}  // namespace cdom::node_check
