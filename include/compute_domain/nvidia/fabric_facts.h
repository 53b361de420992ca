// FabricFacts: what each GPU of a node says about its NVLink fabric, as NVML gives it. Values.
//
// Whether that makes a clique is decided elsewhere (agent/fabric_reading.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cdom::nvidia {

// NVML's numbers; others may come from a later driver.
enum class FabricState : std::uint8_t { NotSupported, NotStarted, InProgress, Completed };
enum class FabricHealth : std::uint8_t { NotReported, Healthy, Unhealthy, LimitedCapacity };

struct GpuFacts {
  std::string uuid, name;  // "" when it has not said
  std::string error;       // why it cannot be asked; then the rest means nothing
  FabricState state = FabricState::NotSupported;
  int status = 0;            // of the registration: an NVML return code; counts once Completed
  std::string status_text;   // the same in words, or ""
  std::string cluster_uuid;  // lower case; "" when it is zero: a fabric within this node
  std::uint32_t clique_id = 0;
  FabricHealth health = FabricHealth::NotReported;
  std::uint32_t health_mask = 0;  // NVML's
  // Whether persistence mode is on; nullopt when it has not said. A library that does not see
  // nvidia-persistenced's socket, as in a container, may say of one that this keeps initialised
  // that it is off.
  std::optional<bool> is_persistent;

  friend bool operator==(const GpuFacts&, const GpuFacts&) = default;
};

struct FabricFacts {
  std::string source;  // the library or file that says so
  std::string driver_version;
  std::vector<GpuFacts> gpus;  // by index
  std::string error;           // why nothing can be said at all

  friend bool operator==(const FabricFacts&, const FabricFacts&) = default;
};

}  // namespace cdom::nvidia
