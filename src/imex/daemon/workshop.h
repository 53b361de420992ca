// Workshop: makes everything ready that a start of nvidia-imex needs, and gives the commands.
//
// Configuration and node table are replaced by rename, libraries linked, device files made; the
// daemon sees our hosts file as /etc/hosts and resolves names from it alone. One thread.
#pragma once

#include <string>
#include <vector>

#include "compute_domain/base/result.h"
#include "compute_domain/imex/driver_root.h"
#include "compute_domain/imex/protocol.h"
#include "compute_domain/imex/supervisor.h"
#include "imex/host/needed_device_nodes.h"
#include "imex/process/child.h"

namespace cdom::imex {

class Workshop {
 public:
  explicit Workshop(const SupervisorOptions& options)
      : options_(options),
        device_nodes_({.devices = options.devices_path, .driver = options.kernel_driver_path}) {}

  // Whether the driver's files and devices are there.
  [[nodiscard]] base::Result<void> check();
  // The command that starts the daemon; what it reads lies there.
  base::Result<Command> prepare(const Want& want);
  // Whether key, certificate or authority are others than the daemon has read; once.
  bool has_new_credentials();
  // Makes the control tool ask the host's own daemon, on the socket that the options name.
  base::Result<void> prepare_host_tool();
  // Before anything is started: the control tool for people, and a configuration that says that
  // there is none yet.
  [[nodiscard]] base::Result<void> offer_tool() const;
  // The guide names the socket by "-u PATH", the reference driver by "--u=PATH": after a refusal
  // the other form is tried, and the one that has had an answer stays.
  void host_tool_answered();
  void host_tool_refused();
  // Removes what prepare() has made, but for device files.
  void clear_away() const;
  // `nvidia-imex-ctl` for what was prepared last, with these arguments.
  [[nodiscard]] Command control_tool(std::vector<std::string> arguments) const;
  // Whether that is a process that reads a file of the driver for it.
  [[nodiscard]] bool has(pid_t pid) const { return device_nodes_.has(pid); }

 private:
  [[nodiscard]] std::string at(const char* name) const;
  [[nodiscard]] DriverPlace driver_place() const;
  [[nodiscard]] base::Result<void> check_for_other_daemons() const;
  base::Result<std::vector<BindMount>> mounts() const;

  const SupervisorOptions& options_;
  Command tool_;
  NeededDeviceNodes device_nodes_;
  std::string tls_revision_;
  std::string host_socket_;  // as this pod sees it
  bool joins_socket_ = false, knows_form_ = false;
};

}  // namespace cdom::imex
