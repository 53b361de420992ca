#include "agent/main/agent_flags.h"

#include <boost/program_options/value_semantic.hpp>
#include <map>
#include <utility>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"

namespace cdom::program {

namespace po = boost::program_options;
using base::cat;

namespace {

constexpr int kMostSeats = 128;

}  // namespace

po::options_description options_of(AgentFlags& flags) {
  const auto with_default = [](auto& value) { return po::value(&value)->default_value(value); };
  po::options_description options("Flags (and the environment variables that they default to)");
  options.add_options()("node-name", po::value(&flags.node),
                        "this node's name in Kubernetes (NODE_NAME)")(
      "node-address", po::value(&flags.node_address),
      "at which other nodes reach this node's IMEX daemon, instead of what compute-domain-imex "
      "tells; for tests")("kubeconfig", po::value(&flags.kubeconfig),
                          "cluster to work on (KUBECONFIG; else the pod's service account)")(
      "namespace", with_default(flags.ns),
      "the operator's own namespace, where node lists lie (NAMESPACE)")(
      "pod-uid", po::value(&flags.pod_uid),
      "this pod's UID; it becomes part of the sockets' names, so that old and new pods of a "
      "rolling "
      "update run side by side; from Kubernetes 1.33 on (POD_UID)")(
      "kubelet-plugins-dir", with_default(flags.plugins_dir),
      "kubelet's own, at the same path here (KUBELET_PLUGINS_DIRECTORY_PATH)")(
      "kubelet-registrar-dir", with_default(flags.registrar_dir),
      "kubelet's own, at the same path here (KUBELET_REGISTRAR_DIRECTORY_PATH)")(
      "kubelet-state-file", po::value(&flags.kubelet_state_file),
      "kubelet's record of claims, where this program may read it itself; else compute-domain-imex "
      "reads it")("cdi-root", with_default(flags.cdi_root),
                  "directory in which the container runtime looks for CDI files (CDI_ROOT)")(
      "device-files", with_default(flags.device_files),
      "of channels below /dev: none (the container runtime makes them), or make")(
      "fabric-file", po::value(&flags.fabric_file),
      "YAML that tells the fabric, instead of compute-domain-imex, for machines without GPUs")(
      "fabric-mode", with_default(flags.fabric_mode),
      "strict: a GPU that has not joined its fabric is a fault; legacy: it has no clique")(
      "imex-socket", with_default(flags.imex_socket), "of compute-domain-imex on this node")(
      "boot-id-file", with_default(flags.boot_id_file), "the node's boot id, as kubelet sees it")(
      "alt-proc-devices", with_default(flags.proc_devices),
      "where to read the major numbers of devices (ALT_PROC_DEVICES_PATH)")(
      "isolation", with_default(flags.isolation),
      "what keeps domains apart on this node: domain (IMEX daemons of their own) or channel (one "
      "set "
      "of daemons for the clique, an IMEX channel for each domain) (IMEX_ISOLATION)")(
      "seats", with_default(flags.seats),
      "claims that this node has room for with isolation by channel, 1 to 128 "
      "(IMEX_CHANNEL_SEATS)")(
      "channel-as-zero",
      po::value(&flags.channel_as_zero)->default_value(false)->implicit_value(true),
      "containers see their channel as channel0, whichever it is (IMEX_CHANNEL_AS_ZERO)")(
      "healthcheck-port", with_default(flags.healthcheck_port),
      "port of the gRPC health service (grpc.health.v1), services \"\" and \"liveness\"; -1 for "
      "none (HEALTHCHECK_PORT)")(
      "imex-mode", with_default(flags.imex_mode),
      "of this node's compute-domain-imex, for `check`: driverManaged or hostManaged (IMEX_MODE)");
  add_options_of(flags.health, options);
  add_check_options(flags.check, options);
  return options;
}

std::string agent_flag_of_variable(const std::string& name) {
  static const std::map<std::string, std::string> flags = {
      {"NODE_NAME", "node-name"},
      {"NAMESPACE", "namespace"},
      {"POD_UID", "pod-uid"},
      {"KUBELET_PLUGINS_DIRECTORY_PATH", "kubelet-plugins-dir"},
      {"KUBELET_REGISTRAR_DIRECTORY_PATH", "kubelet-registrar-dir"},
      {"CDI_ROOT", "cdi-root"},
      {"ALT_PROC_DEVICES_PATH", "alt-proc-devices"},
      {"IMEX_ISOLATION", "isolation"},
      {"IMEX_CHANNEL_SEATS", "seats"},
      {"IMEX_CHANNEL_AS_ZERO", "channel-as-zero"},
      {"HEALTHCHECK_PORT", "healthcheck-port"},
      {"IMEX_MODE", "imex-mode"},
  };
  const auto it = flags.find(name);
  if (it != flags.end()) return it->second;
  const std::string of_health = cli::health_flag_of_variable(name);
  return of_health.empty() ? check_flag_of_variable(name) : of_health;
}

std::string mistake_in_fabric(const AgentFlags& flags) {
  if (flags.fabric_mode != "strict" && flags.fabric_mode != "legacy") {
    return cat("--fabric-mode: \"", flags.fabric_mode, "\" is neither strict nor legacy");
  }
  if (flags.fabric_file.empty() && !flags.imex_socket.starts_with('/')) {
    return cat("--imex-socket: \"", flags.imex_socket, "\" is not an absolute path");
  }
  return "";
}

std::string mistake_in_check(const AgentFlags& flags) {
  for (const auto& [flag, path] : {std::pair("--kubelet-plugins-dir", flags.plugins_dir),
                                   std::pair("--kubelet-registrar-dir", flags.registrar_dir),
                                   std::pair("--cdi-root", flags.cdi_root),
                                   std::pair("--alt-proc-devices", flags.proc_devices)}) {
    if (!path.starts_with('/')) return cat(flag, ": \"", path, "\" is not an absolute path");
  }
  if (flags.imex_mode != "driverManaged" && flags.imex_mode != "hostManaged") {
    return cat("--imex-mode: \"", flags.imex_mode, "\" is neither driverManaged nor hostManaged");
  }
  if (std::string mistake = mistake_in(flags.check); !mistake.empty()) return mistake;
  return mistake_in_fabric(flags);
}

std::vector<std::string> agent_flags_of_check() {
  std::vector<std::string> names{
      "imex-socket", "fabric-file", "fabric-mode",         "alt-proc-devices",
      "node-name",   "cdi-root",    "kubelet-plugins-dir", "kubelet-registrar-dir",
      "imex-mode"};
  for (std::string& name : check_flag_names()) names.push_back(std::move(name));
  return names;
}

std::string mistake_in(const AgentFlags& flags) {
  if (flags.node.empty()) return "--node-name: missing; give this node's name in Kubernetes";
  if (!base::is_dns_subdomain(flags.node)) {
    return cat("--node-name: \"", flags.node, "\" is not a valid name of a node");
  }
  if (!base::is_dns_label(flags.ns)) {
    return cat("--namespace: \"", flags.ns, "\" is not a valid name of a namespace");
  }
  if (!flags.pod_uid.empty() && !base::is_dns_label(flags.pod_uid)) {
    return cat("--pod-uid: \"", flags.pod_uid, "\" is not a valid UID of a pod");
  }
  for (const auto& [flag, path] :
       {std::pair("--kubelet-plugins-dir", flags.plugins_dir),
        std::pair("--kubelet-registrar-dir", flags.registrar_dir),
        std::pair("--cdi-root", flags.cdi_root), std::pair("--imex-socket", flags.imex_socket),
        std::pair("--boot-id-file", flags.boot_id_file),
        std::pair("--alt-proc-devices", flags.proc_devices)}) {
    if (!path.starts_with('/')) return cat(flag, ": \"", path, "\" is not an absolute path");
  }
  if (!flags.kubelet_state_file.empty() && !flags.kubelet_state_file.starts_with('/')) {
    return cat("--kubelet-state-file: \"", flags.kubelet_state_file, "\" is not an absolute path");
  }
  if (flags.device_files != "none" && flags.device_files != "make") {
    return cat("--device-files: \"", flags.device_files, "\" is neither none nor make");
  }
  if (flags.isolation != "domain" && flags.isolation != "channel" && !flags.isolation.empty()) {
    return cat("--isolation: \"", flags.isolation, "\" is neither domain nor channel");
  }
  if (flags.seats < 1 || flags.seats > kMostSeats) {
    return cat("--seats: ", flags.seats, " is not from 1 to ", kMostSeats,
               ", the devices of one ResourceSlice");
  }
  if (flags.healthcheck_port != -1 &&
      (flags.healthcheck_port < 1 || flags.healthcheck_port > 65535)) {
    return cat("--healthcheck-port: ", flags.healthcheck_port, " is neither a port nor -1");
  }
  if (std::string mistake = mistake_in(flags.health); !mistake.empty()) return mistake;
  if (const auto paths = dra::socket_paths(plugin_of(flags)); !paths) {
    return cat("--kubelet-plugins-dir and --kubelet-registrar-dir: ", paths.error().message);
  }
  return mistake_in_check(flags);
}

core::NodeSettings settings_of(const AgentFlags& flags) {
  using api::Isolation;
  return {.isolation = flags.isolation == "channel" ? Isolation::Channel : Isolation::Domain,
          .seats = flags.seats};
}

agent::FabricMode fabric_mode_of(const AgentFlags& flags) {
  return flags.fabric_mode == "legacy" ? agent::FabricMode::Legacy : agent::FabricMode::Strict;
}

agent::CdiOptions cdi_of(const AgentFlags& flags) {
  agent::CdiOptions options;
  options.directory = flags.cdi_root;
  options.proc_devices = flags.proc_devices;
  options.proc_driver = base::proc_driver_beside(flags.proc_devices);
  if (flags.device_files == "none") options.dev.clear();
  options.as_zero = flags.channel_as_zero;
  return options;
}

dra::PluginOptions plugin_of(const AgentFlags& flags) {
  dra::PluginOptions options;
  options.driver = api::kDriver;
  options.plugins_dir = flags.plugins_dir;
  options.registrar_dir = flags.registrar_dir;
  options.pod_uid = flags.pod_uid;
  if (flags.healthcheck_port > 0) options.health_listen = cat("[::]:", flags.healthcheck_port);
  return options;
}

node_check::Places places_of(const AgentFlags& flags) {
  node_check::Places places;
  places.program = node_check::Program::Agent;
  places.node = flags.node;
  places.is_host_managed = flags.imex_mode == "hostManaged";
  places.driver.root.clear();  // the other program has it
  places.proc_devices = flags.proc_devices;
  places.proc_driver = base::proc_driver_beside(flags.proc_devices);
  places.plugins_dir = flags.plugins_dir;
  places.registrar_dir = flags.registrar_dir;
  places.cdi_folder = flags.cdi_root;
  return places;
}

}  // namespace cdom::program
