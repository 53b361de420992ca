#include "cli/health/health_certificate.h"

#include <utility>

#include "compute_domain/base/files.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"

namespace cdom::cli {

using base::cat;
using base::Result;

namespace {

// Probes, a few scrapers and readers; any pod of the cluster may connect.
constexpr std::size_t kSessions = 64;
constexpr std::chrono::seconds kPatience{10};

// On the server's own thread, until it ends.
void look_again(http::Server& server, const std::shared_ptr<HealthCertificate>& certificate,
                base::Duration pause) {
  server.run_after(pause, [&server, certificate, pause] {
    certificate->look(server);
    look_again(server, certificate, pause);
  });
}

}  // namespace

Result<HealthCertificate> HealthCertificate::read(const HealthFlags& flags) {
  HealthCertificate certificate(flags);
  auto pair = certificate.usable_pair();
  if (!pair) return pair.error();
  certificate.pair_ = *std::move(pair);
  return certificate;
}

Result<HealthCertificate::Pair> HealthCertificate::usable_pair() const {
  auto certificate = base::read_file(flags_.tls_cert);
  if (!certificate) {
    return base::invalid(cat("--metrics-tls-cert: ", certificate.error().message));
  }
  auto key = base::read_file(flags_.tls_key);
  if (!key) return base::invalid(cat("--metrics-tls-key: ", key.error().message));
  if (const std::string mistake = http::mistake_in_certificate(*certificate, *key);
      !mistake.empty()) {
    return base::invalid(cat("--metrics-tls-cert ", flags_.tls_cert, " and --metrics-tls-key ",
                             flags_.tls_key, ": ", mistake));
  }
  return Pair{*std::move(certificate), *std::move(key)};
}

void HealthCertificate::look(http::Server& server) {
  auto now = usable_pair();
  std::string trouble = now ? "" : now.error().message;
  if (now && *now != pair_) {
    if (const auto set = server.set_certificate(now->certificate_pem, now->key_pem)) {
      pair_ = *std::move(now);
      base::log_info("serving with a renewed certificate", {{"file", flags_.tls_cert}});
    } else {
      trouble = set.error().message;
    }
  }
  if (trouble.empty()) {
    warned_.clear();
  } else if (trouble == trouble_ && trouble != warned_) {
    warned_ = trouble;
    base::log_warning("the renewed certificate cannot be used; the one before it stays in use",
                      {{"error", trouble}});
  }
  trouble_ = std::move(trouble);
}

Result<std::unique_ptr<http::Server>> serve_with_certificate(const HealthFlags& flags,
                                                             const std::string& flag,
                                                             const std::string& listen,
                                                             http::Route route,
                                                             base::Duration between_looks) {
  http::ServerConfig config;
  config.listen = listen;
  config.session_limit = kSessions;
  config.body_limit = 0;  // nothing here is sent any
  config.header_timeout = config.idle_timeout = kPatience;
  std::shared_ptr<HealthCertificate> certificate;
  if (!flags.tls_cert.empty()) {
    auto read = HealthCertificate::read(flags);
    if (!read) return read.error();
    certificate = std::make_shared<HealthCertificate>(*std::move(read));
    config.certificate_pem = certificate->pair().certificate_pem;
    config.key_pem = certificate->pair().key_pem;
  }
  auto server = http::make_server(std::move(config), std::move(route));
  if (!server) return base::invalid(cat("--", flag, ": ", server.error().message));
  if (certificate) look_again(**server, certificate, between_looks);
  return server;
}

}  // namespace cdom::cli
