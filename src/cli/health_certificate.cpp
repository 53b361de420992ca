#include "cli/health_certificate.h"

#include <utility>

#include "compute_domain/base/files.h"
#include "compute_domain/base/log.h"
#include "compute_domain/base/text.h"

namespace cdom::cli {

using base::cat;
using base::Result;

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

}  // namespace cdom::cli
