// NodeFabric: where this node's agent learns its fabric: NVML, or a file in its place.
#pragma once

#include <optional>

#include "bin/agent_flags.h"
#include "compute_domain/agent/fabric.h"
#include "compute_domain/agent/file_fabric.h"
#include "compute_domain/agent/nvml_fabric.h"

namespace cdom::bin {

class NodeFabric {
 public:
  NodeFabric(const AgentFlags& flags, const base::Clock& clock) {
    if (flags.fabric_file.empty()) {
      nvml_.emplace(nvml_of(flags), clock);
    } else {
      file_.emplace(flags.fabric_file, fabric_mode_of(flags));
    }
  }

  agent::Fabric& port() {
    if (nvml_) return *nvml_;
    return *file_;
  }
  // Readable when there is news; -1: it never tells.
  [[nodiscard]] int descriptor() const { return nvml_ ? nvml_->descriptor() : -1; }
  // As NvmlFabric says.
  bool finish() { return !nvml_ || nvml_->finish(); }

 private:
  std::optional<agent::NvmlFabric> nvml_;
  std::optional<agent::FileFabric> file_;
};

}  // namespace cdom::bin
