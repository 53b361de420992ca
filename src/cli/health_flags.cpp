#include "cli/health_flags.h"

#include <boost/program_options/value_semantic.hpp>

#include "compute_domain/base/text.h"

namespace cdom::cli {

namespace po = boost::program_options;

void add_options_of(HealthFlags& flags, po::options_description& options) {
  options.add_options()(
      "metrics-listen", po::value(&flags.listen)->default_value(flags.listen),
      "address of /healthz, /readyz and /metrics (HTTP_ENDPOINT); empty for none")(
      "metrics-path", po::value(&flags.metrics_path)->default_value(flags.metrics_path),
      "path of the metrics (METRICS_PATH); empty for none")(
      "metrics-tls-cert", po::value(&flags.tls_cert),
      "PEM file with a certificate and its chain, for HTTPS at --metrics-listen; a renewed one is "
      "read without a restart (METRICS_TLS_CERT)")(
      "metrics-tls-key", po::value(&flags.tls_key),
      "PEM file with the private key of --metrics-tls-cert (METRICS_TLS_KEY)")(
      "metrics-authentication",
      po::value(&flags.authentication)->default_value(flags.authentication)->implicit_value(true),
      "show metrics only to who sends the token of a user that may get --metrics-path; needs TLS "
      "and the right to create tokenreviews and subjectaccessreviews (METRICS_AUTHENTICATION)");
}

std::string health_flag_of_variable(const std::string& name) {
  if (name == "HTTP_ENDPOINT") return "metrics-listen";
  if (name == "METRICS_PATH") return "metrics-path";
  if (name == "METRICS_TLS_CERT") return "metrics-tls-cert";
  if (name == "METRICS_TLS_KEY") return "metrics-tls-key";
  if (name == "METRICS_AUTHENTICATION") return "metrics-authentication";
  return "";
}

std::string mistake_in(const HealthFlags& flags) {
  const std::string& path = flags.metrics_path;
  if (!path.empty() && (!path.starts_with('/') || path == "/healthz" || path == "/readyz")) {
    return base::cat("--metrics-path: \"", path, "\" is not a path of its own, such as /metrics");
  }
  if (flags.tls_cert.empty() != flags.tls_key.empty()) {
    return "--metrics-tls-cert and --metrics-tls-key: only one is given; give both, or neither";
  }
  if (flags.authentication && flags.tls_cert.empty()) {
    return "--metrics-authentication: needs --metrics-tls-cert and --metrics-tls-key, as tokens "
           "must "
           "not be sent in the clear";
  }
  return "";
}

}  // namespace cdom::cli
