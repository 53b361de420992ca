// The text of nvidia-imex's configuration. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "imex/daemon/tls_files.h"

namespace cdom::imex {

struct ImexConfig {
  std::string address;     // that the daemon and its command service bind
  std::string table_path;  // of the node table
  std::string directory;   // for files of the daemon's own
  std::int64_t server_port = 50000, command_port = 50005;
  // What daemons prove themselves with, and the name that all certificates have; nullopt: TLS is
  // off.
  std::optional<TlsFiles> tls;
  std::string tls_name;
  std::map<std::string, std::string> options;  // replace those of the same name
};

// Equals the reference driver's template, except that the daemon binds the node's own address: the
// names of slots without a member lead to a loopback address, which the daemon must not take for
// its own.
std::string config_text(const ImexConfig& config);

}  // namespace cdom::imex
