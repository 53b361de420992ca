// Parameters: the configuration file of the stand-in daemon, and how it differs from the real one.
//
// The keys of nvidia-imex have their usual meaning; keys STAND_IN_… change what is assumed. The
// defaults of both are in src/sandbox/cluster/imex_constants.h.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compute_domain/base/clock.h"
#include "sandbox/cluster/imex/imex_constants.h"

namespace cdom::stand_in {

// Files by which a daemon is known, as a server or as a client.
struct IdentityFiles {
  std::string key, certificate, authority;
};

struct Parameters {
  std::vector<std::string> table;  // node names, by index
  std::string address;             // BIND_INTERFACE_IP; "" : the one that the table names
  int server_port = sandbox::imex_constants::kServerPort;
  std::string command_address;
  int command_port = sandbox::imex_constants::kCommandPort;
  std::string command_socket;       // IMEX_CMD_UNIX_DOMAIN_PATH; "" : none
  std::string quorum = "RECOVERY";  // or NONE
  bool has_authentication = false;
  std::string authentication_mode, authentication_source;
  IdentityFiles server, client;
  std::string target_name;
  int grace_seconds = sandbox::imex_constants::kGraceSeconds;
  std::string log_file;  // "" : stderr

  // What is one operating system: its session, and the record of importers.
  std::string os_directory = sandbox::imex_constants::kPersistDirectory;
  std::string hosts_file;  // "" : the resolver of the system
  std::string version = "580.0";
  std::vector<std::string> devices;  // that must be there
  base::Duration handler_delay = sandbox::imex_constants::kHandlerDelay;
  base::Duration ready_delay = sandbox::imex_constants::kReadyDelay;
  base::Duration shutdown_delay = sandbox::imex_constants::kShutdownDelay;
  base::Duration signal_interval = sandbox::imex_constants::kSignalInterval;
  base::Duration silence_notice = sandbox::imex_constants::kSilenceNotice;
  base::Duration reset_notice = sandbox::imex_constants::kResetNotice;
  bool incoming_connects = sandbox::imex_constants::kIncomingHandshakeConnects;
  std::vector<base::Duration> back_off{sandbox::imex_constants::kBackOff.begin(),
                                       sandbox::imex_constants::kBackOff.end()};
};

// Ends the program with one line when a file cannot be read.
std::string read_or_end(const std::string& path);
Parameters read_parameters(const std::string& path);

// The address of a name: a number, a line of `hosts_file`, or what the system's resolver says
// first.
std::string address_of(const std::string& name, const std::string& hosts_file);

[[noreturn]] void end_with(const std::string& what);

}  // namespace cdom::stand_in
