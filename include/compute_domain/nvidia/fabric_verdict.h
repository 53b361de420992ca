// FabricVerdict: what follows for the node from what its GPUs say about their NVLink fabric.
//
// The rules are the reference driver's. Strict: a GPU that belongs to a fabric and has not joined
// it is a fault of the node. Legacy: it is a GPU without a clique. Values and pure functions.
#pragma once

#include <optional>
#include <string>

#include "compute_domain/nvidia/fabric_facts.h"

namespace cdom::nvidia {

enum class FabricMode { Strict, Legacy };

struct FabricVerdict {
  // The clique on which all GPUs that have one agree, "<cluster uuid>.<clique id>"; "" when none
  // has one; nullopt when it is not known, and `error` says why.
  std::optional<std::string> clique;
  std::string error;
  // Why the node cannot serve although it has a clique, each "" when it is well.
  std::string old_driver, unhealthy;
};

FabricVerdict verdict_of(const FabricFacts& facts, FabricMode mode);

// The first driver whose nvidia-imex takes names in its node table.
inline constexpr char kOldestDriver[] = "570.158.01";
bool is_too_old(const std::string& driver_version);

// Whether persistence mode is on for every GPU that has said; nullopt when none has.
std::optional<bool> is_persistent(const FabricFacts& facts);

// Several lines for people: what was found per GPU, and why there is a clique or none.
std::string describe_fabric(const FabricFacts& facts, FabricMode mode);

}  // namespace cdom::nvidia
