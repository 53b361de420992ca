// Supervisor: the node's IMEX daemon, its files, and the socket on which agents ask for it.
//
// How it goes: one loop waits for the daemon's end (a pidfd), the control tool, the process that
// asks NVML, agents and the next moment of the keeper, and does what follows. Agents come and go;
// the daemon stays. When the supervisor ends, so does the daemon, and the next supervisor of the
// same boot starts it again. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/base/pulses.h"
#include "compute_domain/base/random.h"
#include "compute_domain/base/result.h"
#include "compute_domain/nvidia/fabric_verdict.h"

namespace cdom::imex {

struct SupervisorOptions {
  std::string program = "compute-domain-imex";  // name and version, sent to agents
  std::string socket_path;
  std::string directory;  // of its own, for files that need not survive a reboot
  std::string driver_root = "/driver-root";
  // Folders below it, searched before the usual ones.
  std::vector<std::string> driver_programs, driver_libraries;
  // The command socket of the host's own nvidia-imex, below the driver root; "": the supervisor
  // runs the daemons. It only asks the host's daemon for its state, and never starts, signals or
  // stops it.
  std::string host_socket;
  std::string boot_id;
  // Where the other nodes reach its daemons, sent to agents; "": the agent has to know.
  std::string address;
  // The file that the daemon sees as /etc/hosts.
  std::string hosts_path = "/etc/hosts";
  // Where the daemon keeps who imports from it (IMEX guide).
  std::string persist_path = "/var/run/nvidia-imex/persist.dat";
  bool makes_device_files = true;
  std::string devices_path = "/proc/devices", kernel_driver_path = "/proc/driver/nvidia";
  std::string dev_path = "/dev";
  std::int64_t server_port = 50000, command_port = 50005;
  // The folder of key, certificate and authority, which switch on the daemons' TLS; "": off. The
  // supervisor looks at the files now and then; when they change, the daemon reads them again.
  std::string tls_directory;
  std::string tls_name = "compute-domain-imex";  // that all certificates have
  base::Duration tls_interval = std::chrono::seconds(10);
  std::map<std::string, std::string> imex_options;  // of its configuration, by name
  std::set<std::uint32_t> allowed_users;            // that may connect
  // Kubelet's record of claims, for agents, which do not see kubelet's folder.
  std::string kubelet_state_path = "/var/lib/kubelet/dra_manager_state";
  // The program that asks NVML about the fabric, with its arguments (`compute-domain-imex fabric
  // --lines`); empty: agents hear nothing of the fabric.
  std::vector<std::string> fabric_command;
  // By which its metrics judge the fabric; agents hear what the GPUs say, and judge it themselves.
  nvidia::FabricMode fabric_mode = nvidia::FabricMode::Strict;
  // The program that looks at what the node lacks (`compute-domain-imex check --lines`); empty:
  // agents hear nothing of it.
  std::vector<std::string> check_command;
  bool reaps_orphans = false;  // of the whole container: this program is its first process
  base::Duration state_patience = std::chrono::seconds(2);  // of nvidia-imex-ctl -q
  // What is counted, and the pulse of the loop; null for none. Both must outlive the supervisor.
  base::Registry* metrics = nullptr;
  base::Pulses::Pulse* pulse = nullptr;
};

class Supervisor {
 public:
  // Conflict: another supervisor has the directory. The daemon that an earlier one had running in
  // this boot is started by the first step, unless an agent has withdrawn it meanwhile; at another
  // address that is left to the agent, who knows what the peers' names mean then.
  static base::Result<std::unique_ptr<Supervisor>> open(SupervisorOptions options,
                                                        const base::Clock& clock,
                                                        base::Random random);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  // What there is to do now, and then one wait for news, of at most `patience`.
  void step(base::Duration patience);
  // Until `stop`; then ends the daemon: SIGTERM, and SIGKILL after 5 s. When none was wanted, the
  // supervisor's files go too. Before each step it calls `beside`, which gives the most that the
  // step may wait.
  void run(
      const std::stop_token& stop,
      const std::function<base::Duration()>& beside = [] { return std::chrono::hours(1); });
  // Whether a daemon could be started now: the driver's files and devices are there.
  [[nodiscard]] base::Result<void> check() const;

 private:
  class Loop;
  explicit Supervisor(std::unique_ptr<Loop> loop);
  const std::unique_ptr<Loop> loop_;
};

}  // namespace cdom::imex
