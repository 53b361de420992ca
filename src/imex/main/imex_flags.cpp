#include "imex/main/imex_flags.h"

#include <unistd.h>

#include "compute_domain/base/text.h"
#include "compute_domain/nvidia/device_nodes.h"

namespace cdom::program {

using base::cat;

namespace {

constexpr char kUsage[] =
    "compute-domain-imex [FLAGS]\n"
    "    Runs nvidia-imex as the node's agent asks for it, until SIGTERM.\n"
    "compute-domain-imex probe [--socket FILE]\n"
    "    Whether the one that has this socket answers: exit code 0 or 1.\n"
    "compute-domain-imex fabric [FLAGS]\n"
    "    Prints the NVLink fabric of this node: fabric --help.\n"
    "compute-domain-imex check [FLAGS]\n"
    "    Whether this node has what it needs: check --help.";
constexpr char kProbeUsage[] =
    "compute-domain-imex probe [--socket FILE]\n"
    "    Whether the one that has this socket answers: exit code 0 or 1.";
constexpr char kFabricUsage[] =
    "compute-domain-imex fabric [--driver-root DIR] [--driver-libraries DIR] [--fabric-mode MODE]\n"
    "    Prints what the GPUs of this node say of their NVLink fabric, and why there is a clique\n"
    "    or none. Exit code 1 when that is unknown. Needs no cluster.";
constexpr char kCheckUsage[] =
    "compute-domain-imex check [-o text|json] [FLAGS]\n"
    "    Prints what this node has of what ComputeDomains need, and what to do about the rest. "
    "Exit\n"
    "    code 3 when a requirement fails. Changes nothing, and needs no cluster.";

bool is_one_line(const std::string& text) { return text.find('\n') == std::string::npos; }

bool is_assignment(const std::string& text) {
  const std::size_t equals = text.find('=');
  return equals != 0 && equals != std::string::npos && is_one_line(text);
}

std::vector<cli::Flag> own_rows(ImexFlags& f) {
  using namespace cli;  // NOLINT(google-build-using-namespace): the words of a row
  imex::SupervisorOptions& supervisor = f.supervisor;
  return {
      {"socket", "", path(supervisor.socket_path, "FILE"),
       "unix socket on which the node's agent asks", "probe"},
      {"address", "POD_IP",
       text(supervisor.address, "ADDRESS", {base::is_ip_address, "an IP address"}),
       "address at which the other nodes reach nvidia-imex here: the pod's"},
      {"directory", "IMEX_DIRECTORY", path(supervisor.directory, "DIR"),
       "for configuration, node table and state; lost at a reboot", "check"},
      {"driver-root", "DRIVER_ROOT_CTR_PATH", path(supervisor.driver_root, "DIR"),
       "root of the NVIDIA driver, as this container sees it", "fabric check"},
      {"driver-programs", "", texts(supervisor.driver_programs, "DIR", absolute_path()),
       "folder below the driver root that has nvidia-imex and nvidia-imex-ctl, searched before the "
       "usual ones",
       "check"},
      {"driver-libraries", "", texts(supervisor.driver_libraries, "DIR", absolute_path()),
       "folder below the driver root that has the driver's libraries, searched before the usual "
       "ones",
       "fabric check"},
      {"imex-host-socket", "IMEX_HOST_SOCKET_PATH", path(f.host_socket, "FILE"),
       "socket of the host's own daemon, for nvidia-imex-ctl; below the driver root"},
      {"hosts-file", "", path(supervisor.hosts_path, "FILE"),
       "file to write peers to, which nvidia-imex sees as /etc/hosts"},
      {"persist-file", "", text(supervisor.persist_path, "FILE"),
       "file in which nvidia-imex keeps its importers"},
      {"server-port", "", number<std::int64_t>(supervisor.server_port, 1, 65535),
       "port of the daemons among each other", "check"},
      {"command-port", "", number<std::int64_t>(supervisor.command_port, 1, 65535),
       "port of nvidia-imex-ctl", "check"},
      {"tls-directory", "IMEX_TLS_DIRECTORY", path(supervisor.tls_directory, "DIR"),
       "folder with tls.key, tls.crt and ca.crt, which switches on the TLS of nvidia-imex with the "
       "other nodes; read again when they change"},
      {"tls-name", "IMEX_TLS_NAME", text(supervisor.tls_name, "NAME", {is_one_line, "one line"}),
       "name that the certificates of all nodes have"},
      {"imex-option", "", texts(f.imex_options, "KEY=VALUE", {is_assignment, "KEY=VALUE"}),
       "an option of nvidia-imex's configuration"},
      {"device-files", "", choice(f.device_files, "WAY", {"make", "given"}),
       "make (those of the GPUs and fabric-imex-mgmt) or given (by the container runtime)"},
      {"kubelet-state-file", "", path(supervisor.kubelet_state_path, "FILE"),
       "kubelet's record of claims, for the agent, which does not see kubelet's folder"},
      {"lines", "", on_off(f.prints_lines),
       "for `fabric` and `check`: print the lines that compute-domain-imex itself reads; `fabric` "
       "then asks NVML in this process, and `check` does not ask it, nor bind ports",
       "fabric check"},
      {"agents", "", number<std::int64_t>(f.agents, 0, 1000),
       "for `check --lines`: agents that are connected to compute-domain-imex now", "check"},
      {"persistent", "", on_off(f.is_persistent),
       "for `check --lines`: the persistence mode of every GPU is on", "check"},
      {"allow-user", "", numbers(f.allowed_users, "ID"),
       "id of a user who may connect, besides root and this program's own"},
  };
}

}  // namespace

imex::SupervisorOptions supervisor_by_default() {
  imex::SupervisorOptions supervisor;
  supervisor.socket_path = "/run/compute-domain/imex.sock";
  supervisor.directory = "/run/compute-domain/imex";
  return supervisor;
}

cli::CommandLine command_line_of(ImexFlags& flags) {
  std::vector<cli::Flag> of_node = rows_of(flags.node);
  for (cli::Flag& flag : of_node) {
    if (flag.name == "alt-proc-devices") flag.read_by = "fabric check";
  }
  return {
      .program = kImexProgram,
      .usage = kUsage,
      .sub_commands = {{"check", kCheckUsage}, {"fabric", kFabricUsage}, {"probe", kProbeUsage}},
      .flags = own_rows(flags) + of_node + cli::rows_of_open_metrics(flags.health),
      .mistake = [&flags](const std::string&) -> std::string {
        // Those of the metrics keep no daemon from its work: MetricsPort tells them.
        return flags.supervisor.server_port == flags.supervisor.command_port
                   ? "--server-port and --command-port: must differ"
                   : "";
      }};
}

node_check::Places places_of(const ImexFlags& flags) {
  const imex::SupervisorOptions& supervisor = flags.supervisor;
  node_check::Places places = places_of(flags.node);
  places.program = node_check::Program::Imex;
  places.driver.root = supervisor.driver_root;
  places.driver.program_folders = supervisor.driver_programs;
  places.driver.library_folders = supervisor.driver_libraries;
  places.own_configuration = cat(supervisor.directory, "/imexd.cfg");
  places.ports = {supervisor.server_port, supervisor.command_port};
  return places;
}

imex::SupervisorOptions supervisor_of(const ImexFlags& flags) {
  imex::SupervisorOptions supervisor = flags.supervisor;
  for (const std::string& option : flags.imex_options) {
    const std::size_t equals = option.find('=');
    supervisor.imex_options[option.substr(0, equals)] = option.substr(equals + 1);
  }
  // What a stand-in for the kernel's files has is all beside its list of devices.
  supervisor.devices_path = flags.node.proc_devices;
  supervisor.kernel_driver_path = nvidia::proc_driver_beside(supervisor.devices_path);
  supervisor.fabric_mode = flags.node.mode_of_fabric();
  if (flags.node.is_host_managed()) supervisor.host_socket = flags.host_socket;
  supervisor.makes_device_files = flags.device_files == "make";
  supervisor.allowed_users = {0, geteuid()};
  supervisor.allowed_users.insert(flags.allowed_users.begin(), flags.allowed_users.end());
  return supervisor;
}

}  // namespace cdom::program
