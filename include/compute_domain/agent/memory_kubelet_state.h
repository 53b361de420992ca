// MemoryKubeletState: a kubelet's record of claims, in memory.
#pragma once

#include <set>
#include <string>

#include "compute_domain/agent/kubelet_state.h"

namespace cdom::agent {

class MemoryKubeletState : public KubeletState {
 public:
  std::set<std::string> claims;  // UIDs

  bool knows(const std::string& claim_uid) override { return claims.contains(claim_uid); }
};

}  // namespace cdom::agent
