// What the command lines of controller and agent say about their health servers.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <string>

namespace cdom::cli {

struct HealthFlags {
  std::string listen;                     // may be ":8080", for all addresses; empty for none
  std::string metrics_path = "/metrics";  // empty: metrics are not shown
  std::string tls_cert, tls_key;          // files in PEM; plain HTTP when both are empty
  bool authentication = false;            // of who reads the metrics, by a bearer token
};

// The options write into `flags`, which must outlive them.
void add_options_of(HealthFlags& flags, boost::program_options::options_description& options);

// The flag that an environment variable stands for; "" for other variables.
std::string health_flag_of_variable(const std::string& name);

// "" when the values make sense, else what is wrong with which flag.
std::string mistake_in(const HealthFlags& flags);

}  // namespace cdom::cli
