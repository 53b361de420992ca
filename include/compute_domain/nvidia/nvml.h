// NVML, the GPU driver's own library: one round of questions about the NVLink fabric.
//
// A call into the driver may never return, and may end the process: so a process of its own asks
// (compute-domain-imex fabric). The library is opened for the round and closed after it, as an open
// one holds back the unloading of the driver.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compute_domain/nvidia/fabric_facts.h"

namespace cdom::nvidia {

struct NvmlOptions {
  std::string driver_root = "/";     // below which libnvidia-ml.so.1 is looked for
  std::vector<std::string> folders;  // below it, searched before the usual ones
  std::string library;               // instead, when not ""
  // Where the kernel module says what it has: /proc/driver/nvidia. A GPU of its that NVML does not
  // see is in the facts, with an error. "", or a folder that is not there: NVML alone is asked.
  std::string proc_driver;
};

// Called before each call that may not return: "nvmlDeviceGetUUID of GPU 2".
using BeforeCall = std::function<void(const std::string& call)>;

// What cannot be asked is an error in the facts, with the remedy where there is one.
FabricFacts ask_nvml(const NvmlOptions& options, const BeforeCall& before = {});

}  // namespace cdom::nvidia
