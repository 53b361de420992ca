#include "cli/health/health_flags.h"

#include "compute_domain/base/text.h"

namespace cdom::cli {

namespace {

bool is_of_its_own(const std::string& path) {
  return path.empty() || (path.starts_with('/') && path != "/healthz" && path != "/readyz");
}

constexpr char kOfItsOwn[] = "a path of its own, such as /metrics";

std::vector<Flag> open_rows(HealthFlags& flags, const Rule& of_path) {
  return {
      {"metrics-listen", "HTTP_ENDPOINT", text(flags.listen, "ADDRESS:PORT"),
       "address of /healthz, /readyz and /metrics; empty for none"},
      {"metrics-path", "METRICS_PATH", text(flags.metrics_path, "PATH", of_path),
       "path of the metrics; empty for none"},
      {"metrics-tls-cert", "METRICS_TLS_CERT", text(flags.tls_cert, "FILE"),
       "PEM file with a certificate and its chain, for HTTPS at --metrics-listen; a renewed one is "
       "read without a restart"},
      {"metrics-tls-key", "METRICS_TLS_KEY", text(flags.tls_key, "FILE"),
       "PEM file with the private key of --metrics-tls-cert"},
  };
}

}  // namespace

std::vector<Flag> rows_of_open_metrics(HealthFlags& flags) { return open_rows(flags, {}); }

std::vector<Flag> rows_of(HealthFlags& flags) {
  return open_rows(flags, {is_of_its_own, kOfItsOwn}) +
         std::vector<Flag>{
             {"metrics-authentication", "METRICS_AUTHENTICATION", on_off(flags.authentication),
              "show metrics only to requests with the token of a user who may get --metrics-path; "
              "needs TLS and the right to create tokenreviews and subjectaccessreviews"},
         };
}

std::string mistake_in(const HealthFlags& flags) {
  if (!is_of_its_own(flags.metrics_path)) {
    return base::cat("--metrics-path: \"", flags.metrics_path, "\" is not ", kOfItsOwn);
  }
  if (flags.tls_cert.empty() != flags.tls_key.empty()) {
    return "--metrics-tls-cert and --metrics-tls-key: only one is given; give both, or neither";
  }
  if (flags.authentication && flags.tls_cert.empty()) {
    return "--metrics-authentication: needs --metrics-tls-cert and --metrics-tls-key, as tokens "
           "must not be sent in the clear";
  }
  return "";
}

}  // namespace cdom::cli
