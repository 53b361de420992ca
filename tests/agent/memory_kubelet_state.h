// MemoryKubeletState: a kubelet's record of claims, in memory.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "compute_domain/agent/kubelet_state.h"

namespace cdom::agent {

class MemoryKubeletState : public KubeletState {
 public:
  std::vector<core::ClaimRef> held;

  bool knows(const std::string& claim_uid) override {
    return std::ranges::find(held, claim_uid, &core::ClaimRef::uid) != held.end();
  }
  std::vector<core::ClaimRef> claims() override { return held; }
};

}  // namespace cdom::agent
