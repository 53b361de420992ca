#include "imex/daemon/workshop.h"

#include <cstdio>
#include <filesystem>

#include "compute_domain/base/files.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/path_below.h"
#include "compute_domain/base/processes.h"
#include "compute_domain/base/text.h"
#include "compute_domain/imex/tool_link.h"
#include "imex/daemon/config.h"

namespace cdom::imex {

using base::cat;
using base::Result;

namespace {

constexpr char kHosts[] = "/etc/hosts";
constexpr char kNameSwitch[] = "/etc/nsswitch.conf";

// Whether "hosts:" has "files" and nothing else.
bool resolves_from_files_only(const std::string& name_switch) {
  for (const std::string& line : base::split(name_switch, '\n')) {
    const std::string_view rule = base::trim(std::string_view(line).substr(0, line.find('#')));
    if (rule.starts_with("hosts:")) return base::trim(rule.substr(6)) == "files";
  }
  return false;
}

}  // namespace

std::string Workshop::at(const char* name) const { return cat(options_.directory, "/", name); }

DriverPlace Workshop::driver_place() const {
  return {.root = options_.driver_root,
          .program_folders = options_.driver_programs,
          .library_folders = options_.driver_libraries,
          .own_root = {},
          .needs_daemon = options_.host_socket.empty()};
}

Result<void> Workshop::check() {
  const auto files = find_driver_files(driver_place());
  if (!files) return files.error();
  if (!files->missing.empty()) {
    return base::Error{base::ErrorKind::Invalid,
                       cat("nvidia-imex needs ", base::list_names(files->missing),
                           ", which neither this image nor the driver root ", options_.driver_root,
                           " has: see --driver-libraries")};
  }
  if (!options_.host_socket.empty()) return {};
  if (auto alone = check_for_other_daemons(); !alone) return alone;
  if (!options_.tls_directory.empty()) {
    if (const auto tls = read_tls_files(options_.tls_directory); !tls) return tls.error();
  }
  if (!options_.makes_device_files) return {};
  const auto nodes = device_nodes_.look();
  return nodes ? Result<void>() : Result<void>(nodes.error());
}

// The kernel driver has one session of IMEX per machine. Where the driver root is the node's own
// root its processes are seen. A daemon of NVIDIA's DRA driver goes by itself, with its domain.
Result<void> Workshop::check_for_other_daemons() const {
  const std::string proc = cat(options_.driver_root == "/" ? "" : options_.driver_root, "/proc");
  if (!base::shows_whole_machine(proc)) return {};
  for (const base::Process& daemon : base::host_processes_named(proc, "nvidia-imex")) {
    if (base::has_argument(daemon, at("imexd.cfg"))) continue;
    if (base::has_argument(daemon, "/imexd/imexd.cfg")) continue;
    return base::Error{base::ErrorKind::Invalid,
                       cat("another IMEX daemon runs on this node, ", base::text_of(daemon),
                           ": systemctl disable --now nvidia-imex.service && systemctl mask "
                           "nvidia-imex.service")};
  }
  return {};
}

Result<Command> Workshop::prepare(const Want& want) {
  auto files = find_driver_files(driver_place());
  if (!files) return files.error();
  if (auto linked = link_tool(*files, options_.directory); !linked) return linked.error();
  if (options_.makes_device_files) {
    const auto nodes = device_nodes_.look();
    if (!nodes) return nodes.error();
    if (auto made = nvidia::make_device_nodes(*nodes, options_.dev_path); !made) {
      return made.error();
    }
  }
  std::optional<TlsFiles> tls;
  if (!options_.tls_directory.empty()) {
    auto read = read_tls_files(options_.tls_directory);
    if (!read) return read.error();
    tls_revision_ = read->revision;
    tls = *std::move(read);
  }
  const ImexConfig config{.address = want.address,
                          .table_path = at("nodes.cfg"),
                          .directory = options_.directory,
                          .server_port = options_.server_port,
                          .command_port = options_.command_port,
                          .tls = std::move(tls),
                          .tls_name = options_.tls_name,
                          .options = options_.imex_options};
  if (auto done = base::replace_file(config.table_path, want.table_text); !done)
    return done.error();
  if (auto done = base::replace_file(at("imexd.cfg"), config_text(config)); !done)
    return done.error();
  auto seen = mounts();
  if (!seen) return seen.error();
  Command command{
      .arguments = {files->daemon, "-c", at("imexd.cfg")},
      .environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", cat("LD_LIBRARY_PATH=", at("lib")),
                      // Its own resolver would ask name servers itself (gRPC,
                      // environment variables).
                      "GRPC_DNS_RESOLVER=native"},
      .mounts = *std::move(seen)};
  tool_ = command;
  tool_.arguments = {files->control_tool, "-c", at("imexd.cfg")};
  return command;
}

Result<void> Workshop::prepare_host_tool() {
  auto files = find_driver_files(driver_place());
  if (!files) return files.error();
  if (auto linked = link_tool(*files, options_.directory); !linked) return linked.error();
  tool_ = {
      .arguments = {files->control_tool},
      .environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", cat("LD_LIBRARY_PATH=", at("lib"))}};
  // A link in this path, as /var/run is one, leads to a path of the host.
  const std::string root = options_.driver_root == "/" ? "" : options_.driver_root;
  host_socket_ = base::path_below(root, options_.host_socket);
  return {};
}

bool Workshop::has_new_credentials() {
  if (options_.tls_directory.empty()) return false;
  const auto read = read_tls_files(options_.tls_directory);
  // Those that the daemon has go on being good for a while.
  if (!read || read->revision == tls_revision_) return false;
  tls_revision_ = read->revision;
  return true;
}

void Workshop::host_tool_answered() { knows_form_ = true; }
void Workshop::host_tool_refused() { joins_socket_ = joins_socket_ != !knows_form_; }

Result<void> Workshop::offer_tool() const {
  const auto files = find_driver_files(driver_place());
  if (!files) return files.error();
  if (auto linked = link_tool(*files, options_.directory); !linked) return linked;
  std::error_code error;
  if (std::filesystem::exists(at("imexd.cfg"), error)) return {};
  return base::replace_file(
      at("imexd.cfg"),
      options_.host_socket.empty()
          ? std::string(
                "# compute-domain-imex has started no nvidia-imex yet: its configuration will "
                "be here.\n")
          : cat("# The host's own nvidia-imex is asked: nvidia-imex-ctl -u ",
                base::path_below(options_.driver_root == "/" ? "" : options_.driver_root,
                                 options_.host_socket),
                "\n"));
}

void Workshop::clear_away() const {
  std::error_code ignored;
  std::filesystem::remove_all(at("lib"), ignored);
  for (const char* name :
       {"nodes.cfg", "imexd.cfg", "nsswitch.conf", "stats.log", "stats.log.1", kToolName}) {
    std::remove(at(name).c_str());
  }
}

Command Workshop::control_tool(std::vector<std::string> arguments) const {
  Command command = tool_;
  if (!host_socket_.empty()) {
    if (joins_socket_) {
      command.arguments.push_back(cat("--u=", host_socket_));
    } else {
      command.arguments.insert(command.arguments.end(), {"-u", host_socket_});
    }
  }
  for (std::string& argument : arguments) command.arguments.push_back(std::move(argument));
  return command;
}

Result<std::vector<BindMount>> Workshop::mounts() const {
  std::vector<BindMount> mounts;
  if (options_.hosts_path != kHosts) mounts.push_back({options_.hosts_path, kHosts});
  const auto name_switch = base::read_file(kNameSwitch);
  if (!name_switch) {
    base::log_warning(
        "there is no nsswitch.conf: names that the hosts file does not have may be "
        "asked of name servers");
    return mounts;
  }
  if (resolves_from_files_only(*name_switch)) return mounts;
  const auto written = base::replace_file(at("nsswitch.conf"), "hosts: files\n");
  if (!written) return written.error();
  mounts.push_back({at("nsswitch.conf"), kNameSwitch});
  return mounts;
}

}  // namespace cdom::imex
