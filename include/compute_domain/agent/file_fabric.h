// FileFabric: the fabric as a YAML file describes it, for tests and for machines without GPUs.
#pragma once

#include <optional>
#include <string>

#include "compute_domain/agent/fabric.h"
#include "compute_domain/agent/fabric_reading.h"
#include "compute_domain/base/result.h"

namespace cdom::agent {

// Reads such a file. Invalid: file, and the field that is wrong or unknown.
//
//   driver: 580.65.06
//   gpus:
//   - uuid: GPU-0      # and name, error, status, statusText, healthMask (NVML's);
//                      # health: healthy, unhealthy, limitedCapacity
//     state: completed # or notSupported, notStarted, inProgress
//     clusterUUID: 6f0a3c52-1c7e-4b1f-9d53-0c2f6c2b7a10
//     cliqueID: 32766
base::Result<FabricFacts> parse_fabric_facts(const std::string& yaml, const std::string& file_name);

class FileFabric : public Fabric {
 public:
  explicit FileFabric(std::string path, FabricMode mode = FabricMode::Strict)
      : path_(std::move(path)), mode_(mode) {}

  // Both read the file again at each call; facts() is for people.
  core::FabricReading read() override;
  [[nodiscard]] FabricFacts facts() const;

 private:
  const std::string path_;
  const FabricMode mode_;
  std::optional<std::string> text_;  // of `last_`
  core::FabricReading last_;
};

}  // namespace cdom::agent
