// What the command lines of controller and agent say about their health servers.
#pragma once

#include <string>

#include "cli/flag.h"

namespace cdom::cli {

struct HealthFlags {
  std::string listen;                     // may be ":8080", for all addresses; empty for none
  std::string metrics_path = "/metrics";  // empty: metrics are not shown
  std::string tls_cert, tls_key;          // files in PEM; plain HTTP when both are empty
  bool authentication = false;            // of who reads the metrics, by a bearer token
};

// They write into `flags`, which must outlive them.
std::vector<Flag> rows_of(HealthFlags& flags);
// The same without authentication, for a program that asks no API server, and with any path: what
// is wrong with it mistake_in says.
std::vector<Flag> rows_of_open_metrics(HealthFlags& flags);

// "" when the values make sense together, else what is wrong with which flag.
std::string mistake_in(const HealthFlags& flags);

}  // namespace cdom::cli
