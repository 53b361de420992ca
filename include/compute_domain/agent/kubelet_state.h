// KubeletState: kubelet's own record of the claims in use on this node. A port.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/core/checkpoint.h"

namespace cdom::agent {

class KubeletState {
 public:
  virtual ~KubeletState() = default;
  // True also when that is not known.
  virtual bool knows(const std::string& claim_uid) = 0;
  // The claims of this driver that it names; none also when that is not known.
  virtual std::vector<core::ClaimRef> claims() = 0;
};

}  // namespace cdom::agent
