// ClaimWish: what a ResourceClaim asks of this node, read strictly. Pure.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compute_domain/api/compute_domain.h"
#include "compute_domain/core/node_world.h"

namespace cdom::core {

struct ClaimWish {
  std::string domain_uid;  // "": it is for the automatic domain of its workload
  api::AllocationMode allocation_mode = api::AllocationMode::Single;
  std::vector<DeviceRef> devices;
  // The clique whose nodes share what is allocated; nullopt: it is a device of this node alone.
  std::optional<std::string> shared_clique = {};
  bool admin_access = false;
};

struct Refusal {
  std::string error;
  bool permanent = false;  // nothing about this claim can change it

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

// `claim` is what kubelet means, `object` what the API server has under that name.
std::variant<ClaimWish, Refusal> wish_of(const ClaimRef& claim, const api::ResourceClaim& object,
                                         const std::string& node);

}  // namespace cdom::core
