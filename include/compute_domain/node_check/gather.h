// Gathering: looks at a node's files, processes and ports, and changes none of them. It binds the
// ports for a moment, unless `is_brief`, and connects to registration sockets without sending.
//
// All files are below folders that the caller names, so that a test can be the node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/imex/driver_root.h"
#include "compute_domain/node_check/node_facts.h"
#include "compute_domain/nvidia/fabric_verdict.h"

namespace cdom::node_check {

struct Places {
  Program program = Program::Imex;
  std::string node;
  bool is_host_managed = false;
  std::int64_t wanted_channels = 2048;
  imex::DriverPlace driver;  // its root "": this program has none
  // The node's root as this container sees it; "": the driver root, where that is a whole system
  // with a kubelet in it.
  std::string host_root;
  std::string proc = "/proc";
  std::string proc_devices = "/proc/devices", proc_driver = "/proc/driver/nvidia";
  // Folders of the node. When its root is out of sight, they are looked for at the same path here.
  std::string plugins_dir = "/var/lib/kubelet/plugins";
  std::string registrar_dir = "/var/lib/kubelet/plugins_registry";
  std::string cdi_folder = "/var/run/cdi";
  std::string own_configuration = "/run/compute-domain/imex/imexd.cfg";
  std::vector<std::int64_t> ports = {50000, 50005};
  // How many of our agents are connected to the supervisor, to which nobody else may connect;
  // nullopt: not known here.
  std::optional<std::int64_t> agents;
  // Persistence mode of every GPU is on, as NVML has said elsewhere.
  bool is_persistent = false;
  // Gathers only what a Finding with a reason needs, beside a daemon that may start at any moment:
  // no port is bound; a port counts as taken when `proc` shows who listens on it at every address.
  bool is_brief = false;
  // With the files of a driver that hangs, where somebody waits for the answer: a brief look is a
  // process of its own, which is ended when it lasts too long.
  base::Duration driver_patience = std::chrono::seconds(2);
};

// All but the fabric, which is NVML's to say.
NodeFacts gather(const Places& places);

Fabric fabric_of(const nvidia::FabricFacts& facts, nvidia::FabricMode mode);

}  // namespace cdom::node_check
