#include "compute_domain/node_check/gather.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "compute_domain/base/apart_reader.h"
#include "compute_domain/base/files.h"
#include "compute_domain/base/path_below.h"
#include "compute_domain/base/processes.h"
#include "compute_domain/base/text.h"
#include "compute_domain/nvidia/device_nodes.h"
#include "compute_domain/nvidia/kernel_gpus.h"
#include "node_check/rules.h"
#include "node_check/runtime_config.h"
#include "node_check/sockets.h"

namespace cdom::node_check {

namespace fs = std::filesystem;
using base::cat;

namespace {

constexpr char kDriverName[] = "compute-domain.nvidia.com";
constexpr char kUnit[] = "nvidia-imex.service";

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// "580.65.06" in "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.65.06  Release …".
std::string version_in(const std::string& text) {
  std::istringstream words(text.substr(0, text.find('\n')));
  for (std::string word; words >> word;) {
    const bool has_digits_only = word.find_first_not_of("0123456789.") == std::string::npos;
    if (has_digits_only && word.find('.') != std::string::npos) return word;
  }
  return "";
}

// Any pod may run a process of this name; the host's own is in no container, ours and those of
// NVIDIA's DRA driver tell themselves apart by their configuration.
std::vector<Process> imex_daemons_in(const std::string& proc, const std::string& own_cfg) {
  std::vector<Process> all = base::processes_named(proc, "nvidia-imex");
  std::error_code error;
  const fs::path namespace_of_first = fs::read_symlink(proc + "/1/ns/pid", error);
  if (error || namespace_of_first.empty()) return all;
  const std::vector<Process> hosts = base::host_processes_named(proc, "nvidia-imex");
  std::erase_if(all, [&](const Process& one) {
    return std::ranges::find(hosts, one.pid, &Process::pid) == hosts.end() &&
           !base::has_argument(one, own_cfg) && !base::has_argument(one, kPredecessorsCfg);
  });
  return all;
}

// A GPU whose file does not come is one all the same.
std::size_t count_gpus(const Places& places) {
  if (places.is_brief) return nvidia::kernel_gpus(places.proc_driver).size();
  base::ApartReader reader;
  const auto read = [&](const std::string& path) -> base::Result<std::string> {
    auto text = reader.read(path, places.driver_patience);
    if (!text && reader.hangs()) return std::string();
    return text;
  };
  return nvidia::kernel_gpus(places.proc_driver, read).size();
}

class NodeView {
 public:
  explicit NodeView(const Places& places)
      : places_(places), driver_root_(without_slash(places.driver.root)) {
    const bool is_system =
        has_driver_root() && is_folder(base::path_below(driver_root_, "/var/lib/kubelet"));
    if (!places.host_root.empty()) {
      host_ = without_slash(places.host_root);
    } else if (is_system) {
      host_ = driver_root_;
    }
    if (host_ && base::shows_whole_machine(*host_ + "/proc")) {
      host_proc_ = *host_ + "/proc";
    } else if (base::shows_whole_machine(places.proc)) {
      host_proc_ = places.proc;
    }
  }

  void see_kernel(NodeFacts& facts) const;
  void see_imex_programs(NodeFacts& facts) const;
  void see_processes(NodeFacts& facts) const;
  void see_unit(NodeFacts& facts) const;
  void see_kubelet(NodeFacts& facts) const;
  void see_runtime(NodeFacts& facts) const;
  void see_ports(NodeFacts& facts) const;

 private:
  static std::string without_slash(const std::string& root) { return root == "/" ? "" : root; }
  // Where a path of the node is seen; nullopt when it is out of sight.
  [[nodiscard]] std::optional<std::string> seen(const std::string& path) const {
    if (host_) return base::path_below(*host_, path);
    if (is_folder(path)) return path;
    return std::nullopt;
  }
  [[nodiscard]] bool has_driver_root() const { return !places_.driver.root.empty(); }
  [[nodiscard]] bool has_persistence_socket(const std::string& root) const {
    std::error_code error;
    return fs::exists(base::path_below(root, "/run/nvidia-persistenced/socket"), error);
  }

  const Places& places_;
  const std::string driver_root_;
  std::optional<std::string> host_, host_proc_;
};

void NodeView::see_kernel(NodeFacts& facts) const {
  facts.proc_devices = places_.proc_devices;
  const auto version = base::read_file(places_.proc_driver + "/version");
  if (version) facts.kernel_driver_version = version_in(*version);
  facts.gpus = static_cast<int>(count_gpus(places_));
  if (const auto devices = base::read_file(places_.proc_devices)) {
    facts.channel_major = nvidia::character_major(*devices, "nvidia-caps-imex-channels");
    facts.capabilities_major = nvidia::character_major(*devices, "nvidia-caps");
  }
  if (const auto text = base::read_file(places_.proc_driver + "/capabilities/fabric-imex-mgmt")) {
    facts.imex_capability = nvidia::numeric_field(*text, "DeviceFileMinor");
  }
  if (const auto text = base::read_file(places_.proc_driver + "/params")) {
    facts.channel_count = nvidia::numeric_field(*text, "ImexChannelCount");
  }
  facts.page_size = sysconf(_SC_PAGESIZE);
  utsname machine{};
  if (uname(&machine) == 0) facts.machine = machine.machine;
}

void NodeView::see_imex_programs(NodeFacts& facts) const {
  facts.driver_root = places_.driver.root;
  if (!is_folder(places_.driver.root)) return;
  imex::DriverPlace place = places_.driver;
  place.needs_daemon = !places_.is_host_managed;
  const auto files = imex::find_driver_files(place);
  if (!files) {
    facts.imex_programs = ImexPrograms{.error = files.error().message};
    return;
  }
  ImexPrograms programs{.daemon = files->daemon,
                        .control_tool = files->control_tool,
                        .missing_libraries = files->missing};
  for (const std::string& path : {files->daemon, files->control_tool}) {
    std::error_code error;
    const auto permissions = fs::status(path, error).permissions();
    constexpr auto kExecutable =
        fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
    if (!path.empty() && (permissions & kExecutable) == fs::perms::none) {
      programs.not_executable.push_back(path);
    }
  }
  facts.imex_programs = std::move(programs);
}

void NodeView::see_processes(NodeFacts& facts) const {
  facts.own_configuration = places_.own_configuration;
  facts.is_persistent = places_.is_persistent;
  if (host_proc_) {
    facts.imex_daemons = imex_daemons_in(*host_proc_, places_.own_configuration);
    facts.foreign_plugins = base::processes_named(*host_proc_, "compute-domain-kubelet-plugin");
    facts.keeps_gpus_initialised =
        !base::host_processes_named(*host_proc_, "nvidia-persistenced").empty();
  }
  // With the GPU Operator it is in the driver's container.
  if ((host_ && has_persistence_socket(*host_)) ||
      (has_driver_root() && has_persistence_socket(driver_root_))) {
    facts.keeps_gpus_initialised = true;
  }
}

void NodeView::see_unit(NodeFacts& facts) const {
  if (!host_) return;
  std::error_code error;
  facts.imex_unit = UnitState::Absent;
  for (const char* folder : {"/usr/lib/systemd/system", "/lib/systemd/system"}) {
    if (fs::exists(base::path_below(*host_, cat(folder, "/", kUnit)), error)) {
      facts.imex_unit = UnitState::Disabled;
    }
  }
  const fs::path own = cat(*host_, "/etc/systemd/system/", kUnit);
  if (fs::read_symlink(own, error) == "/dev/null") {
    facts.imex_unit = UnitState::Masked;
    return;
  }
  if (fs::is_regular_file(own, error)) facts.imex_unit = UnitState::Disabled;
  // Enabled: a link in the folder of a target.
  const std::string targets = cat(*host_, "/etc/systemd/system");
  for (fs::directory_iterator it(targets, error), end; !error && it != end; it.increment(error)) {
    const std::string folder = it->path();
    std::error_code absent;
    if ((folder.ends_with(".wants") || folder.ends_with(".requires")) &&
        fs::symlink_status(folder + "/" + kUnit, absent).type() == fs::file_type::symlink) {
      facts.imex_unit = UnitState::Enabled;
    }
  }
}

void NodeView::see_kubelet(NodeFacts& facts) const {
  const auto plugins = seen(places_.plugins_dir), registrar = seen(places_.registrar_dir);
  if (!plugins || !registrar) return;
  facts.kubelet_folders = {{places_.plugins_dir, is_folder(*plugins)},
                           {places_.registrar_dir, is_folder(*registrar)}};
  facts.agents = places_.agents;
  facts.registrations.emplace();
  std::error_code error;
  for (fs::directory_iterator it(*registrar, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename();
    std::error_code gone;
    if (!name.starts_with(kDriverName) || !it->is_socket(gone)) continue;
    auto socket = try_registration(it->path(), host_proc_.value_or(places_.proc));
    socket.path = cat(places_.registrar_dir, "/", name);
    facts.registrations->push_back(std::move(socket));
  }
  std::ranges::sort(*facts.registrations, {}, &RegistrationSocket::path);
}

void NodeView::see_runtime(NodeFacts& facts) const {
  facts.cdi_folder = places_.cdi_folder;
  if (const auto folder = seen(places_.cdi_folder)) facts.has_cdi_folder = is_folder(*folder);
  if (host_) facts.runtime = container_runtime_of(*host_);
}

void NodeView::see_ports(NodeFacts& facts) const {
  for (const std::int64_t number : places_.ports) {
    if (places_.program == Program::Agent) {
      facts.ports.push_back({.number = number});  // its pod has another network than the daemons
    } else if (places_.is_brief) {
      facts.ports.push_back(look_at_port(number, places_.proc));
    } else {
      facts.ports.push_back(try_port(number, places_.proc));
    }
  }
  if (!host_proc_) return;
  std::error_code error;
  const fs::path first = fs::read_symlink(*host_proc_ + "/1/ns/net", error);
  if (!error) facts.is_node_network = first == fs::read_symlink("/proc/self/ns/net", error);
}

}  // namespace

NodeFacts gather(const Places& places) {
  NodeFacts facts{.program = places.program,
                  .node = places.node,
                  .is_host_managed = places.is_host_managed,
                  .wanted_channels = places.wanted_channels};
  const NodeView view(places);
  view.see_kernel(facts);
  if (!places.is_brief) view.see_imex_programs(facts);
  view.see_processes(facts);
  view.see_unit(facts);
  view.see_kubelet(facts);
  view.see_runtime(facts);
  view.see_ports(facts);
  return facts;
}

}  // namespace cdom::node_check
