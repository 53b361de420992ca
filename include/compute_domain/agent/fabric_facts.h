// FabricFacts: what each GPU of the node says about its NVLink fabric, and what follows from it.
//
// The rules are the reference driver's. Strict: a GPU that belongs to a fabric and has not joined
// it is a fault of the node. Legacy: it is a GPU without a clique. Values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute_domain/core/node_world.h"

namespace cdom::agent {

// NVML's numbers; others may come from a later driver.
enum class FabricState : std::uint8_t { NotSupported, NotStarted, InProgress, Completed };
enum class FabricHealth : std::uint8_t { NotTold, Healthy, Unhealthy, LimitedCapacity };

struct GpuFacts {
  std::string uuid, name;  // "" when it has not said
  std::string error;       // why it cannot be asked; then the rest means nothing
  FabricState state = FabricState::NotSupported;
  int status = 0;            // of the registration: an NVML return code; counts once Completed
  std::string status_text;   // the same in words, or ""
  std::string cluster_uuid;  // lower case; "" when it is zero: a fabric within this node
  std::uint32_t clique_id = 0;
  FabricHealth health = FabricHealth::NotTold;
  std::uint32_t health_mask = 0;  // NVML's

  friend bool operator==(const GpuFacts&, const GpuFacts&) = default;
};

struct FabricFacts {
  std::string source;  // the library or file that says so
  std::string driver_version;
  std::vector<GpuFacts> gpus;  // by index
  std::string error;           // why nothing can be told at all

  friend bool operator==(const FabricFacts&, const FabricFacts&) = default;
};

enum class FabricMode { Strict, Legacy };

// The first driver whose nvidia-imex takes names in its node table.
inline constexpr char kOldestDriver[] = "570.158.01";
bool is_too_old(const std::string& driver_version);

// The clique that all GPUs with one agree on, "<cluster uuid>.<clique id>", or "" when none has
// one; and for what the node cannot serve although it has a clique.
core::FabricReading reading_of(const FabricFacts& facts, FabricMode mode);

// Several lines for people: what was found per GPU, and why there is a clique or none.
std::string describe_fabric(const FabricFacts& facts, FabricMode mode);

}  // namespace cdom::agent
