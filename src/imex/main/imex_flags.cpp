#include "imex/main/imex_flags.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <boost/program_options/value_semantic.hpp>

#include "compute_domain/base/device_nodes.h"
#include "compute_domain/base/text.h"

namespace cdom::program {

namespace po = boost::program_options;
using base::cat;

namespace {

bool is_address(const std::string& text) {
  in6_addr any{};
  return inet_pton(AF_INET, text.c_str(), &any) == 1 ||
         inet_pton(AF_INET6, text.c_str(), &any) == 1;
}

}  // namespace

po::options_description options_of(ImexFlags& flags) {
  imex::OwnerOptions& owner = flags.owner;
  owner.socket_path = "/run/compute-domain/imex.sock";
  owner.directory = "/run/compute-domain/imex";
  const auto with_default = [](auto& value) { return po::value(&value)->default_value(value); };
  po::options_description options("Flags (and the environment variables that they default to)");
  options.add_options()("socket", with_default(owner.socket_path),
                        "unix socket on which the node's agent asks")(
      "address", po::value(&owner.address),
      "at which the other nodes reach nvidia-imex here: the pod's (POD_IP)")(
      "directory", with_default(owner.directory),
      "for configuration, node table and state; lost at a reboot (IMEX_DIRECTORY)")(
      "driver-root", with_default(owner.driver_root),
      "root of the NVIDIA driver, as this container sees it (DRIVER_ROOT_CTR_PATH)")(
      "driver-programs", po::value(&owner.driver_programs)->composing(),
      "folder below the driver root that has nvidia-imex and nvidia-imex-ctl, searched before the "
      "usual ones; may be repeated")(
      "driver-libraries", po::value(&owner.driver_libraries)->composing(),
      "folder below the driver root that has the driver's libraries, searched before the usual "
      "ones; may be repeated")(
      "imex-mode", with_default(flags.mode),
      "driverManaged: daemons are started as agents ask for them; hostManaged: the host's own is "
      "asked "
      "for its state, and never started or stopped (IMEX_MODE)")(
      "imex-host-socket", with_default(flags.host_socket),
      "socket of the host's own daemon, for nvidia-imex-ctl; below the driver root "
      "(IMEX_HOST_SOCKET_PATH)")("hosts-file", with_default(owner.hosts_path),
                                 "file to write peers to, which nvidia-imex sees as /etc/hosts")(
      "persist-file", with_default(owner.persist_path),
      "file in which nvidia-imex keeps its importers")(
      "server-port", with_default(owner.server_port), "port of the daemons among each other")(
      "command-port", with_default(owner.command_port), "port of nvidia-imex-ctl")(
      "tls-directory", po::value(&owner.tls_directory),
      "folder with tls.key, tls.crt and ca.crt, which switches on the TLS of nvidia-imex with the "
      "other nodes; read again when they change (IMEX_TLS_DIRECTORY)")(
      "tls-name", with_default(owner.tls_name),
      "name that the certificates of all nodes have (IMEX_TLS_NAME)")(
      "imex-option", po::value(&flags.imex_options)->composing(),
      "KEY=VALUE for nvidia-imex's configuration; may be repeated")(
      "device-files", with_default(flags.device_files),
      "make (those of the GPUs and fabric-imex-mgmt) or given (by the container runtime)")(
      "kubelet-state-file", with_default(owner.kubelet_state_path),
      "kubelet's record of claims, for the agent, which does not see kubelet's folder")(
      "fabric-mode", with_default(flags.fabric_mode),
      "of `fabric`: strict: a GPU that has not joined its fabric is a fault; legacy: it has no "
      "clique")(
      "lines", po::bool_switch(&flags.prints_lines),
      "of `fabric`: print the lines that compute-domain-imex itself reads, and ask NVML in "
      "this process")("boot-id-file", with_default(flags.boot_id_file),
                      "the node's boot id, as kubelet sees it")(
      "alt-proc-devices", with_default(owner.devices_path),
      "where to read the major numbers of devices (ALT_PROC_DEVICES_PATH)")(
      "allow-user", po::value(&flags.allowed_users)->composing(),
      "id of a user who may connect, besides root and this program's own; may be repeated")(
      "node-name", po::value(&flags.node), "this node's name, for `check` (NODE_NAME)")(
      "kubelet-plugins-dir", with_default(flags.plugins_dir),
      "kubelet's own, on the node, for `check` (KUBELET_PLUGINS_DIRECTORY_PATH)")(
      "kubelet-registrar-dir", with_default(flags.registrar_dir),
      "kubelet's own, on the node, for `check` (KUBELET_REGISTRAR_DIRECTORY_PATH)")(
      "cdi-root", with_default(flags.cdi_root),
      "directory of the agent's CDI files, on the node, for `check` (CDI_ROOT)");
  add_check_options(flags.check, options);
  return options;
}

std::string imex_flag_of_variable(const std::string& variable) {
  if (variable == "DRIVER_ROOT_CTR_PATH") return "driver-root";
  if (variable == "IMEX_DIRECTORY") return "directory";
  if (variable == "POD_IP") return "address";
  if (variable == "IMEX_TLS_DIRECTORY") return "tls-directory";
  if (variable == "IMEX_TLS_NAME") return "tls-name";
  if (variable == "IMEX_MODE") return "imex-mode";
  if (variable == "IMEX_HOST_SOCKET_PATH") return "imex-host-socket";
  if (variable == "ALT_PROC_DEVICES_PATH") return "alt-proc-devices";
  if (variable == "NODE_NAME") return "node-name";
  if (variable == "KUBELET_PLUGINS_DIRECTORY_PATH") return "kubelet-plugins-dir";
  if (variable == "KUBELET_REGISTRAR_DIRECTORY_PATH") return "kubelet-registrar-dir";
  if (variable == "CDI_ROOT") return "cdi-root";
  return check_flag_of_variable(variable);
}

std::vector<std::string> imex_flags_of_check() {
  std::vector<std::string> names{
      "driver-root",          "driver-programs", "driver-libraries", "imex-mode",
      "fabric-mode",          "directory",       "server-port",      "command-port",
      "alt-proc-devices",     "node-name",       "cdi-root",         "kubelet-plugins-dir",
      "kubelet-registrar-dir"};
  for (std::string& name : check_flag_names()) names.push_back(std::move(name));
  return names;
}

node_check::Places places_of(const ImexFlags& flags) {
  const imex::OwnerOptions& owner = flags.owner;
  node_check::Places places;
  places.program = node_check::Program::Imex;
  places.node = flags.node;
  places.is_host_managed = flags.mode == "hostManaged";
  places.driver.root = owner.driver_root;
  places.driver.program_folders = owner.driver_programs;
  places.driver.library_folders = owner.driver_libraries;
  places.proc_devices = owner.devices_path;
  places.proc_driver = base::proc_driver_beside(owner.devices_path);
  places.plugins_dir = flags.plugins_dir;
  places.registrar_dir = flags.registrar_dir;
  places.cdi_folder = flags.cdi_root;
  places.own_configuration = cat(owner.directory, "/imexd.cfg");
  places.ports = {owner.server_port, owner.command_port};
  return places;
}

std::string complete(ImexFlags& flags) {
  imex::OwnerOptions& owner = flags.owner;
  for (const auto& [name, path] :
       {std::pair{"--socket", owner.socket_path}, std::pair{"--directory", owner.directory},
        std::pair{"--driver-root", owner.driver_root}, std::pair{"--hosts-file", owner.hosts_path},
        std::pair{"--boot-id-file", flags.boot_id_file},
        std::pair{"--kubelet-state-file", owner.kubelet_state_path},
        std::pair{"--imex-host-socket", flags.host_socket},
        std::pair{"--kubelet-plugins-dir", flags.plugins_dir},
        std::pair{"--kubelet-registrar-dir", flags.registrar_dir},
        std::pair{"--cdi-root", flags.cdi_root}}) {
    if (!path.starts_with('/')) return cat(name, ": \"", path, "\" is not an absolute path");
  }
  for (const auto& [name, folders] : {std::pair{"--driver-programs", &owner.driver_programs},
                                      std::pair{"--driver-libraries", &owner.driver_libraries}}) {
    for (const std::string& folder : *folders) {
      if (folder.starts_with('/')) continue;
      return cat(name, ": \"", folder, "\" is not an absolute path");
    }
  }
  if (!owner.tls_directory.empty() && !owner.tls_directory.starts_with('/')) {
    return cat("--tls-directory: \"", owner.tls_directory, "\" is not an absolute path");
  }
  if (owner.tls_name.find('\n') != std::string::npos) return "--tls-name: must be one line";
  if (!owner.address.empty() && !is_address(owner.address)) {
    return cat("--address: \"", owner.address, "\" is not an IP address");
  }
  for (const auto& [name, port] : {std::pair{"--server-port", owner.server_port},
                                   std::pair{"--command-port", owner.command_port}}) {
    if (port < 1 || port > 65535) return cat(name, ": must be 1 to 65535");
  }
  if (owner.server_port == owner.command_port) {
    return "--server-port and --command-port: must differ";
  }
  for (const std::string& option : flags.imex_options) {
    const std::size_t equals = option.find('=');
    if (equals == 0 || equals == std::string::npos || option.find('\n') != std::string::npos) {
      return cat("--imex-option: \"", option, "\" is not KEY=VALUE");
    }
    owner.imex_options[option.substr(0, equals)] = option.substr(equals + 1);
  }
  if (flags.device_files != "make" && flags.device_files != "given") {
    return cat("--device-files: \"", flags.device_files, "\" is neither make nor given");
  }
  if (flags.mode != "driverManaged" && flags.mode != "hostManaged") {
    return cat("--imex-mode: \"", flags.mode, "\" is neither driverManaged nor hostManaged");
  }
  if (flags.fabric_mode != "strict" && flags.fabric_mode != "legacy") {
    return cat("--fabric-mode: \"", flags.fabric_mode, "\" is neither strict nor legacy");
  }
  // What a stand-in for the kernel's files has is all beside its list of devices.
  owner.kernel_driver_path = base::proc_driver_beside(owner.devices_path);
  if (std::string mistake = mistake_in(flags.check); !mistake.empty()) return mistake;
  if (flags.mode == "hostManaged") owner.host_socket = flags.host_socket;
  owner.makes_device_files = flags.device_files == "make";
  owner.allowed_users = {0, geteuid()};
  owner.allowed_users.insert(flags.allowed_users.begin(), flags.allowed_users.end());
  return "";
}

}  // namespace cdom::program
