#include "node_check/main/node_flags.h"

#include "compute_domain/base/ranges.h"
#include "compute_domain/nvidia/device_nodes.h"

namespace cdom::program {

std::vector<cli::Flag> rows_of(NodeFlags& f) {
  using namespace cli;  // NOLINT(google-build-using-namespace): the words of a row
  return {
      {"node-name", "NODE_NAME", text(f.name, "NAME"), "this node's name in Kubernetes", "check"},
      {"imex-mode", "IMEX_MODE", choice(f.imex_mode, "MODE", {"driverManaged", "hostManaged"}),
       "driverManaged: daemons are started as agents ask for them; hostManaged: the host's own is "
       "asked for its state, and never started or stopped. compute-domain-imex decides; the agent "
       "reads it for `check`",
       "check"},
      {"fabric-mode", "", choice(f.fabric_mode, "MODE", {"strict", "legacy"}),
       "strict: a GPU that has not joined its fabric is a fault; legacy: it has no clique. The "
       "agent decides; compute-domain-imex reads it for its metrics, `fabric` and `check`",
       "fabric check"},
      {"kubelet-plugins-dir", "KUBELET_PLUGINS_DIRECTORY_PATH", path(f.plugins_dir, "DIR"),
       "kubelet's directory, at the same path on the node and in the agent's container", "check"},
      {"kubelet-registrar-dir", "KUBELET_REGISTRAR_DIRECTORY_PATH", path(f.registrar_dir, "DIR"),
       "kubelet's directory, at the same path on the node and in the agent's container", "check"},
      {"cdi-root", "CDI_ROOT", path(f.cdi_root, "DIR"),
       "directory in which the container runtime looks for CDI files, the agent's among them",
       "check"},
      {"alt-proc-devices", "ALT_PROC_DEVICES_PATH", path(f.proc_devices, "FILE"),
       "where to read the major numbers of devices; the folder driver/nvidia beside it has what "
       "the "
       "kernel module says of GPUs",
       "check"},
      {"boot-id-file", "", path(f.boot_id_file, "FILE"), "the node's boot id, as kubelet sees it"},
      {"imex-channels", "IMEX_CHANNELS", number<std::int64_t>(f.channels, 2, base::kRangesEnd),
       "IMEX channels that each node's driver must have (NVreg_ImexChannelCount), as many as the "
       "controller gives: for `check`, and for agents that isolate by channel",
       "check"},
      {"host-root", "", path(f.host_root, "DIR"),
       "the node's root as this container sees it, for `check`; without it the driver root, where "
       "that is a whole system with a kubelet",
       "check"},
      {"output,o", "", choice(f.output, "FORMAT", {"text", "json"}),
       "how `check` prints; json is for programs", "check"},
      {"stay", "", duration(f.stay),
       "how long `check` goes on after it has printed, so that in a Job with a pod per node no pod "
       "ends before the last one has its node",
       "check"},
  };
}

nvidia::FabricMode NodeFlags::mode_of_fabric() const {
  return fabric_mode == "legacy" ? nvidia::FabricMode::Legacy : nvidia::FabricMode::Strict;
}

node_check::Places places_of(const NodeFlags& flags) {
  node_check::Places places;
  places.node = flags.name;
  places.is_host_managed = flags.is_host_managed();
  places.host_root = flags.host_root;
  places.proc_devices = flags.proc_devices;
  places.proc_driver = nvidia::proc_driver_beside(flags.proc_devices);
  places.plugins_dir = flags.plugins_dir;
  places.registrar_dir = flags.registrar_dir;
  places.cdi_folder = flags.cdi_root;
  return places;
}

}  // namespace cdom::program
