// KubeletStateFile: kubelet's own file of the claims in use, <kubelet's
// directory>/dra_manager_state.
//
// Kubelet writes it when it starts and before each NodePrepareResources. What cannot be read, is of
// a newer format or does not fit its checksum is unknown, also a file that is not there; it is told
// once. One thread.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/agent/kubelet_state.h"
#include "compute_domain/base/result.h"

namespace cdom::agent {

// A claim of kubelet's file, and the drivers that it has devices of.
struct KubeletClaim {
  core::ClaimRef claim;
  std::vector<std::string> drivers;

  friend bool operator==(const KubeletClaim&, const KubeletClaim&) = default;
};

// Pure. Invalid: what is wrong with it.
base::Result<std::vector<KubeletClaim>> decode_kubelet_state(const std::string& text);

class KubeletStateFile : public KubeletState {
 public:
  explicit KubeletStateFile(std::string path = "/var/lib/kubelet/dra_manager_state")
      : path_(std::move(path)) {}

  bool knows(const std::string& claim_uid) override;
  std::vector<core::ClaimRef> claims() override;

 private:
  base::Result<std::vector<KubeletClaim>> read();

  const std::string path_;
  std::string told_;  // the last problem, "" when there was none
};

}  // namespace cdom::agent
