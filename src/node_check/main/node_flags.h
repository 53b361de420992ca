// What the command lines of both programs on a node have in common: a flag that means the same in
// both is one row here. --kubelet-state-file and --device-files do not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/flag.h"
#include "compute_domain/node_check/gather.h"

namespace cdom::program {

struct NodeFlags {
  std::string name;  // of the Node
  std::string imex_mode = "driverManaged";
  std::string fabric_mode = "strict";
  std::string plugins_dir = "/var/lib/kubelet/plugins";
  std::string registrar_dir = "/var/lib/kubelet/plugins_registry";
  std::string cdi_root = "/var/run/cdi";
  std::string proc_devices = "/proc/devices";
  std::string boot_id_file = "/proc/sys/kernel/random/boot_id";
  std::int64_t channels = 2048;
  // Only the sub-command `check` reads these; the supervisor starts it with them.
  std::string host_root;
  std::string output = "text";
  base::Duration stay{};

  [[nodiscard]] bool is_host_managed() const { return imex_mode == "hostManaged"; }
  [[nodiscard]] nvidia::FabricMode mode_of_fabric() const;
};

// They write into `flags`, which must outlive them.
std::vector<cli::Flag> rows_of(NodeFlags& flags);

// Where the sub-command `check` looks, as far as these flags say.
node_check::Places places_of(const NodeFlags& flags);

}  // namespace cdom::program
