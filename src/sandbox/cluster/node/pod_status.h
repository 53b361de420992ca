// The status that a simulated kubelet writes for a pod. Pure.
#pragma once

#include <optional>
#include <string>

#include "compute_domain/base/clock.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox {

struct ContainerEnd {
  int exit_code = 0;
  std::string reason;  // "Completed", "Error"
  base::Time started{}, finished{};
};

// What kubelet knows of a pod's containers. They all share one fate here.
struct PodState {
  enum class Containers { Creating, Running, BackOff, Ended } containers = Containers::Creating;
  std::string host_address, pod_address;
  base::Time pod_started{}, container_started{};
  bool is_ready = true;  // while Running
  int restarts = 0;
  std::optional<ContainerEnd> last_end;  // the end, or the one before the restart
};

// The whole status as a merge patch; conditions keep their transition times where they do not
// change, and those of others stay.
json pod_status(const json& pod, const PodState& state, base::Time now);

}  // namespace cdom::sandbox
