#include "imex/stand_in/parameters.h"

#include <netdb.h>

#include <cstdio>
#include <cstdlib>

#include "compute_domain/base/text.h"
#include "imex/stand_in/endpoint.h"

namespace cdom::stand_in {

void end_with(const std::string& what) {
  std::fprintf(stderr, "nvidia-imex (stand-in): %s\n", what.c_str());
  std::exit(1);  // NOLINT(concurrency-mt-unsafe): there is one
}

std::string read_or_end(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) end_with(base::cat("cannot read ", path));
  std::string text;
  char block[4096];
  for (std::size_t got = 0; (got = std::fread(block, 1, sizeof block, file)) > 0;) {
    text.append(block, got);
  }
  std::fclose(file);
  return text;
}

Parameters read_parameters(const std::string& path) {
  std::map<std::string, std::string> values;
  for (const std::string& line : base::split(read_or_end(path), '\n')) {
    const std::size_t equals = line.find('=');
    if (line.starts_with('#') || equals == std::string::npos) continue;
    values[line.substr(0, equals)] = base::trim(line.substr(equals + 1));
  }
  const auto text = [&](const char* key, std::string& value) {
    if (values.contains(key) && !values[key].empty()) value = values[key];
  };
  const auto number = [&](const char* key, int& value) {
    if (values.contains(key) && !values[key].empty()) value = std::atoi(values[key].c_str());
  };
  const auto truth = [&](const char* key, bool& value) {
    int as_number = value ? 1 : 0;
    number(key, as_number);
    value = as_number != 0;
  };
  const auto time = [&](const char* key, base::Duration& value) {
    if (values.contains(key)) value = std::chrono::milliseconds(std::atoi(values[key].c_str()));
  };
  Parameters p;
  std::string table_path, devices, back_off;
  text("IMEX_NODE_CONFIG_FILE", table_path);
  for (const std::string& line : base::split(read_or_end(table_path), '\n')) {
    const std::string_view name = base::trim(line);
    if (!name.empty() && !name.starts_with('#')) p.table.emplace_back(name);
  }
  text("BIND_INTERFACE_IP", p.address);
  number("SERVER_PORT", p.server_port);
  text("IMEX_CMD_BIND_INTERFACE_IP", p.command_address);
  number("IMEX_CMD_PORT", p.command_port);
  text("IMEX_CMD_UNIX_DOMAIN_PATH", p.command_socket);
  text("IMEX_WAIT_FOR_QUORUM", p.quorum);
  truth("IMEX_ENABLE_AUTH_ENCRYPTION", p.has_authentication);
  text("IMEX_AUTH_ENCRYPTION_MODE", p.authentication_mode);
  text("IMEX_AUTH_SOURCE", p.authentication_source);
  text("IMEX_SERVER_KEY", p.server.key);
  text("IMEX_SERVER_CERT", p.server.certificate);
  text("IMEX_SERVER_CERT_AUTH", p.server.authority);
  text("IMEX_CLIENT_KEY", p.client.key);
  text("IMEX_CLIENT_CERT", p.client.certificate);
  text("IMEX_CLIENT_CERT_AUTH", p.client.authority);
  text("IMEX_SECURITY_TARGET_OVERRIDE", p.target_name);
  number("IMEX_NODE_DISCONNECTED_GRACE_TIME", p.grace_seconds);
  text("LOG_FILE_NAME", p.log_file);
  text("STAND_IN_OS_DIRECTORY", p.os_directory);
  text("STAND_IN_HOSTS_FILE", p.hosts_file);
  text("STAND_IN_VERSION", p.version);
  text("STAND_IN_DEVICES", devices);
  if (!devices.empty()) p.devices = base::split(devices, ',');
  time("STAND_IN_HANDLER_DELAY_MS", p.handler_delay);
  time("STAND_IN_READY_DELAY_MS", p.ready_delay);
  time("STAND_IN_SHUTDOWN_DELAY_MS", p.shutdown_delay);
  time("STAND_IN_SIGNAL_INTERVAL_MS", p.signal_interval);
  time("STAND_IN_SILENCE_NOTICE_MS", p.silence_notice);
  time("STAND_IN_RESET_NOTICE_MS", p.reset_notice);
  truth("STAND_IN_INCOMING_CONNECTS", p.incoming_connects);
  text("STAND_IN_BACK_OFF_MS", back_off);
  if (!back_off.empty()) {
    p.back_off.clear();
    for (const std::string& step : base::split(back_off, ',')) {
      p.back_off.push_back(std::chrono::milliseconds(std::atoi(step.c_str())));
    }
  }
  return p;
}

std::string address_of(const std::string& name, const std::string& hosts_file) {
  if (std::string number = Endpoint(name).address(); !number.empty()) return number;
  if (!hosts_file.empty()) {
    for (const std::string& line : base::split(read_or_end(hosts_file), '\n')) {
      std::string address;
      std::string word;
      for (const char c : line.substr(0, line.find('#')) + " ") {
        if (c != ' ' && c != '\t') {
          word += c;
          continue;
        }
        if (address.empty()) address = word;
        if (word == name) return Endpoint(address).address();
        word.clear();
      }
    }
    return {};
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) return {};
  std::string address = Endpoint(*found->ai_addr).address();
  freeaddrinfo(found);
  return address;
}

}  // namespace cdom::stand_in
