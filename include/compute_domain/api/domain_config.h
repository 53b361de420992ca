// ComputeDomainConfig: the opaque configuration of a claim that names no domain, for the automatic
// domain of its workload. A claim without any configuration means the same as an empty one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compute_domain/api/compute_domain.h"
#include "compute_domain/base/result.h"

namespace cdom::api {

inline constexpr char kDomainConfigKind[] = "ComputeDomainConfig";

struct DomainConfig {
  std::int64_t num_nodes = 0;  // 0: as many as the workload says, or as come
  AllocationMode allocation_mode = AllocationMode::Single;
  std::optional<ComputeDomainPlacement> placement;  // absent: Any

  friend bool operator==(const DomainConfig&, const DomainConfig&) = default;
};

std::string encode_domain_config(const DomainConfig& config);

// Strict: an unknown or duplicate field, a wrong kind, a number below 0 or an unknown word is
// Invalid, and the message names the field.
base::Result<DomainConfig> decode_domain_config(const std::string& parameters);

}  // namespace cdom::api
