#include "agent/main/agent_flags.h"

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"

namespace cdom::program {

using base::cat;

namespace {

constexpr int kMostSeats = 128;
constexpr char kUsage[] =
    "compute-domain-agent [FLAGS]\n"
    "    Serves the kubelet of this node until SIGTERM.\n"
    "compute-domain-agent fabric [FLAGS]\n"
    "    Prints the NVLink fabric of this node: fabric --help.\n"
    "compute-domain-agent check [FLAGS]\n"
    "    Whether this node has what it needs: check --help.";
constexpr char kFabricUsage[] =
    "compute-domain-agent fabric [--imex-socket FILE] [--fabric-file FILE] [--fabric-mode MODE]\n"
    "    Prints what compute-domain-imex on this node has read of the GPUs' NVLink fabric, and "
    "why\n"
    "    there is a clique or none. Exit code 1 when that is unknown. Needs no cluster.";
constexpr char kCheckUsage[] =
    "compute-domain-agent check [-o text|json] [FLAGS]\n"
    "    Prints what this node has of what ComputeDomains need, as far as the agent sees it, and "
    "what\n"
    "    to do about the rest. Exit code 3 when a requirement fails. Needs no cluster.";

std::vector<cli::Flag> own_rows(AgentFlags& f) {
  using namespace cli;  // NOLINT(google-build-using-namespace): the words of a row
  return {
      {"node-address", "", text(f.node_address, "ADDRESS"),
       "address at which other nodes reach this node's IMEX daemon, instead of what "
       "compute-domain-imex reports; for tests"},
      {"pod-uid", "POD_UID", text(f.pod_uid, "UID", {base::is_dns_label, "a valid UID of a pod"}),
       "this pod's UID; it becomes part of the sockets' names, so that old and new pods of a "
       "rolling update run side by side; from Kubernetes 1.33 on"},
      {"kubelet-pods-socket", "KUBELET_PODS_SOCKET", path(f.pods_socket, "FILE"),
       "kubelet's PodsAPI (Kubernetes 1.37), by which a claim of a pod that was deleted by force "
       "keeps its channel until the pod's containers have ended; it need not be there"},
      {"kubelet-state-file", "", path(f.kubelet_state_file, "FILE"),
       "kubelet's record of claims, where this program may read it itself; else "
       "compute-domain-imex reads it"},
      {"device-files", "", choice(f.device_files, "WAY", {"none", "make"}),
       "device files of channels below /dev: none (the container runtime makes them), or make"},
      {"fabric-file", "", text(f.fabric_file, "FILE"),
       "YAML file that describes the fabric, instead of compute-domain-imex, for machines without "
       "GPUs",
       "fabric check"},
      {"imex-socket", "", path(f.imex_socket, "FILE"), "socket of compute-domain-imex on this node",
       "fabric check"},
      {"isolation", "IMEX_ISOLATION", choice(f.isolation, "MODE", {"domain", "channel", ""}),
       "what keeps domains apart on this node: domain (IMEX daemons of their own) or channel (one "
       "set of daemons for the clique, an IMEX channel for each domain)"},
      {"seats", "IMEX_CHANNEL_SEATS",
       number(f.seats, 1, kMostSeats, ", the devices of one ResourceSlice"),
       "claims that this node has room for with isolation by channel"},
      {"channel-as-zero", "IMEX_CHANNEL_AS_ZERO", on_off(f.channel_as_zero),
       "containers see their channel as channel0 too, whichever it is"},
      {"healthcheck-port", "HEALTHCHECK_PORT", number(f.healthcheck_port, -1, 65535),
       "port of the gRPC health service (grpc.health.v1: Check), services \"\" and \"liveness\"; "
       "-1 for none"},
  };
}

// What only the agent itself needs, and what takes several values.
std::string mistake_in(const AgentFlags& flags) {
  if (flags.node.name.empty()) return "--node-name: missing; give this node's name in Kubernetes";
  if (!base::is_dns_subdomain(flags.node.name)) {
    return cat("--node-name: \"", flags.node.name, "\" is not a valid name of a node");
  }
  if (flags.healthcheck_port == 0) return "--healthcheck-port: 0 is neither a port nor -1";
  if (std::string mistake = cli::mistake_in(flags.health); !mistake.empty()) return mistake;
  if (const auto paths = dra::socket_paths(plugin_of(flags)); !paths) {
    return cat("--kubelet-plugins-dir and --kubelet-registrar-dir: ", paths.error().message);
  }
  return "";
}

}  // namespace

cli::CommandLine command_line_of(AgentFlags& flags) {
  return {.program = kAgentProgram,
          .usage = kUsage,
          .sub_commands = {{"fabric", kFabricUsage}, {"check", kCheckUsage}},
          .flags = rows_of(flags.node) + cli::rows_of(flags.cluster) + own_rows(flags) +
                   cli::rows_of(flags.health),
          .mistake = [&flags](const std::string& sub_command) {
            return sub_command.empty() ? mistake_in(flags) : "";
          }};
}

core::NodeSettings settings_of(const AgentFlags& flags) {
  using api::Isolation;
  return {.isolation = flags.isolation == "channel" ? Isolation::Channel : Isolation::Domain,
          .seats = flags.seats,
          .channels = flags.node.channels};
}

agent::CdiOptions cdi_of(const AgentFlags& flags) {
  agent::CdiOptions options;
  options.directory = flags.node.cdi_root;
  options.proc_devices = flags.node.proc_devices;
  options.proc_driver = nvidia::proc_driver_beside(flags.node.proc_devices);
  if (flags.device_files == "none") options.dev.clear();
  options.as_zero = flags.channel_as_zero;
  return options;
}

dra::PluginOptions plugin_of(const AgentFlags& flags) {
  dra::PluginOptions options;
  options.driver = api::kDriver;
  options.plugins_dir = flags.node.plugins_dir;
  options.registrar_dir = flags.node.registrar_dir;
  options.pod_uid = flags.pod_uid;
  if (flags.healthcheck_port > 0) options.health_listen = cat("[::]:", flags.healthcheck_port);
  return options;
}

node_check::Places places_of(const AgentFlags& flags) {
  node_check::Places places = places_of(flags.node);
  places.program = node_check::Program::Agent;
  places.driver.root.clear();  // the other program has it
  return places;
}

}  // namespace cdom::program
