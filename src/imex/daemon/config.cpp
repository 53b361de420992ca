#include "imex/daemon/config.h"

#include "compute_domain/base/text.h"

namespace cdom::imex {

std::string config_text(const ImexConfig& config) {
  std::map<std::string, std::string> options{
      {"LOG_LEVEL", "4"},
      {"LOG_FILE_NAME", ""},  // standard error
      {"LOG_APPEND_TO_LOG", "0"},
      // It bounds the file of the statistics too. Without that file, which is in memory, the daemon
      // would print them.
      {"LOG_FILE_MAX_SIZE", "4"},  // MB
      {"LOG_MAX_ROTATE_COUNT", "1"},
      {"LOG_USE_SYSLOG", "0"},
      {"STATS_FILE_NAME", base::cat(config.directory, "/stats.log")},
      {"DAEMONIZE", "0"},
      {"BIND_INTERFACE_IP", config.address},
      {"SERVER_PORT", std::to_string(config.server_port)},
      {"IMEX_NODE_CONFIG_FILE", config.table_path},
      {"IMEX_WAIT_FOR_QUORUM", "RECOVERY"},
      {"IMEX_NODE_DISCONNECTED_GRACE_TIME", "-1"},
      {"IMEX_ENABLE_AUTH_ENCRYPTION", "0"},
      {"IMEX_AUTH_ENCRYPTION_MODE", "SSL_TLS"},
      {"IMEX_CMD_ENABLED", "1"},
      // On TCP, where the other nodes reach it: -N, which alone tells of connections, asks the
      // command services of all nodes of the table (kubernetes-sigs/dra-driver-nvidia-gpu #538,
      // #540; in NVIDIA/k8s-test-infra a domain whose nodes reach each other's port 50000 alone is
      // DEGRADED). A unix socket is asked with -u, and -N needs a configuration (IMEX guide,
      // command service): beside the port a socket would close nothing, and in its place it would
      // take -N away from the others.
      {"IMEX_CMD_BIND_INTERFACE_IP", config.address},
      {"IMEX_CMD_PORT", std::to_string(config.command_port)},
      {"IMEX_CMD_UNIX_DOMAIN_PATH", ""},
  };
  if (config.tls) {
    options["IMEX_ENABLE_AUTH_ENCRYPTION"] = "1";
    options["IMEX_AUTH_SOURCE"] = "FILE";
    // Every daemon is a server and a client to each of the others. Their names in the table are a
    // slot's, which no certificate has.
    for (const char* side : {"IMEX_SERVER_", "IMEX_CLIENT_"}) {
      options[base::cat(side, "KEY")] = config.tls->key;
      options[base::cat(side, "CERT")] = config.tls->certificate;
      options[base::cat(side, "CERT_AUTH")] = config.tls->authority;
    }
    options["IMEX_SECURITY_TARGET_OVERRIDE"] = config.tls_name;
  }
  for (const auto& [key, value] : config.options) options[key] = value;
  std::string text =
      "# Written by compute-domain-imex at each start of the daemon; that of the last when none "
      "runs.\n";
  for (const auto& [key, value] : options) text += base::cat(key, "=", value, "\n");
  return text;
}

}  // namespace cdom::imex
