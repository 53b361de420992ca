// KubeletState: kubelet's own record of the claims in use on this node. A port.
#pragma once

#include <string>

namespace cdom::agent {

class KubeletState {
 public:
  virtual ~KubeletState() = default;
  // True also when it cannot be told.
  virtual bool knows(const std::string& claim_uid) = 0;
};

}  // namespace cdom::agent
