// KubeletStateFile: kubelet's own file of the claims in use, <kubelet's
// directory>/dra_manager_state.
//
// Kubelet writes it when it starts and before each NodePrepareResources. The state is unknown when
// the file is not there, cannot be read, has a newer format or does not fit its checksum; that is
// logged once. One thread.
#pragma once

#include <functional>
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
  using Read = std::function<base::Result<std::string>()>;

  explicit KubeletStateFile(std::string path = "/var/lib/kubelet/dra_manager_state");
  // `read`: another program that may read the file; `source` names it in the log.
  KubeletStateFile(std::string source, Read read)
      : source_(std::move(source)), read_(std::move(read)) {}

  bool knows(const std::string& claim_uid) override;
  std::vector<core::ClaimRef> claims() override;

 private:
  base::Result<std::vector<KubeletClaim>> read();

  const std::string source_;
  const Read read_;
  std::string logged_;  // the last problem, "" when there was none
};

}  // namespace cdom::agent
