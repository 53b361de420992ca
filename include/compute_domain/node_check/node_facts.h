// NodeFacts: what was found on a node, as far as the program that looked can see it.
//
// Everything that may be out of sight (another pod's mounts, the node's processes) is optional:
// nullopt means that nobody has looked there, never that there is nothing. Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/base/processes.h"

namespace cdom::node_check {

enum class Program { Agent, Imex };

using base::Process;

// The two programs of the package nvidia-imex, below the driver root.
struct ImexPrograms {
  std::string daemon, control_tool;  // paths; the tool alone where the host has its own daemon
  std::vector<std::string> not_executable;
  std::vector<std::string> missing_libraries;  // that neither this image nor the driver root has
  std::string error;                           // why one was not found; then the rest is empty
};

// The state of the unit nvidia-imex.service.
enum class UnitState { Absent, Disabled, Enabled, Masked };

struct ContainerRuntime {
  std::string name;         // "containerd", "CRI-O"; "": none that is known here
  std::string config_path;  // "": it has no configuration file
  int config_version = 0;
  std::optional<bool> enable_cdi;
  std::vector<std::string> cdi_folders;  // empty: those that it has by itself
  std::vector<std::string> imports;      // patterns of files that its configuration names besides
  std::vector<std::string> disabled;     // plugins of containerd
};

struct KubeletFolder {
  std::string path;
  bool is_there = false;
};

// A socket by which kubelet registers a plugin of our driver's name.
struct RegistrationSocket {
  std::string path;
  std::optional<bool> is_listening;  // nullopt: it could not be tried
  std::optional<Process> listener;   // nullopt: a process out of sight
};

struct Port {
  std::int64_t number = 0;
  std::string error;              // why it cannot be bound; "": it is free
  std::optional<Process> holder;  // nullopt: none, or a process out of sight
};

struct GpuFabric {
  std::string name;     // "GPU 0"
  std::string clique;   // "": in none
  std::string fault;    // why it cannot share memory over its fabric; "": it can
  std::string warning;  // what is less than it should be
  std::size_t index = 0;
};

// What NVML says of the GPUs.
struct Fabric {
  std::string driver_version;
  bool is_persistent = false;  // persistence mode is on, of every GPU that has said
  std::vector<GpuFabric> gpus;
  std::string clique;  // that all agree on; "": none
  std::string error;   // why there is no answer, or none that fits together
};

struct NodeFacts {
  Program program = Program::Imex;
  std::string node;  // its name; "": not known
  bool is_host_managed = false;
  std::int64_t wanted_channels = 2048;  // IMEX_CHANNELS, the same on every node

  // The kernel's.
  std::string proc_devices = "/proc/devices";  // where it was read
  std::string kernel_driver_version;           // "": no driver is loaded
  int gpus = 0;
  std::optional<unsigned> channel_major, capabilities_major, imex_capability;
  std::optional<std::int64_t> channel_count;  // nullopt: the driver does not say
  std::int64_t page_size = 4096;
  std::string machine;  // "aarch64"

  std::string driver_root;
  std::optional<ImexPrograms> imex_programs;  // nullopt: there is no driver root
  std::optional<Fabric> fabric;

  // The node's.
  std::optional<std::vector<Process>> imex_daemons;  // all of them, ours too
  std::string own_configuration;                     // of our own daemon
  std::optional<UnitState> imex_unit;
  std::optional<std::vector<Process>> foreign_plugins;  // called as NVIDIA's kubelet plugin
  std::optional<std::int64_t> agents;                   // of ours, as Places has them
  std::optional<bool> keeps_gpus_initialised;           // nvidia-persistenced
  bool is_persistent = false;                           // as Places has it
  std::optional<ContainerRuntime> runtime;
  std::string cdi_folder;
  std::optional<bool> has_cdi_folder;
  std::optional<std::vector<KubeletFolder>> kubelet_folders;
  std::optional<std::vector<RegistrationSocket>> registrations;
  std::vector<Port> ports;
  std::optional<bool> is_node_network;  // that the ports were tried in
};

}  // namespace cdom::node_check
