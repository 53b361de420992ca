#include "http/client/client_tls.h"

#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "compute_domain/base/text.h"
#include "http/pem.h"

namespace cdom::http {
namespace {

// Where distributions have their bundle, Debian's first; the same as Go's crypto/x509.
constexpr std::array kSystemCas{"/etc/ssl/certs/ca-certificates.crt",
                                "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
                                "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
                                "/etc/ssl/cert.pem"};

// For a kubeconfig that names no CA, as kubectl takes the system's then.
std::string system_cas() {
  const auto is_there = [](const char* file) {
    std::error_code ignored;
    return std::filesystem::exists(file, ignored);
  };
  const auto* const found = std::ranges::find_if(kSystemCas, is_there);
  return pem_text({}, found == kSystemCas.end() ? kSystemCas.front() : *found,
                  "certificate authority of the system");
}

}  // namespace

ClientTls::ClientTls(const ClientConfig& config, std::string host)
    : config_(config), host_(std::move(host)) {}

void ClientTls::set_up(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  identify(context);
  if (config_.insecure_skip_tls_verify) return;
  trust(context);
  demand_name(context);
  SSL_CTX_set_cert_verify_callback(context, &ClientTls::verify, this);
}

void ClientTls::trust(SSL_CTX* context) const {
  std::string cas = pem_text(config_.ca_pem, config_.ca_file, "certificate authority");
  if (cas.empty()) cas = system_cas();
  trust_only(context, cas, "certificate authority");
}

void ClientTls::demand_name(SSL_CTX* context) const {
  X509_VERIFY_PARAM* param = SSL_CTX_get0_param(context);
  if (X509_VERIFY_PARAM_set1_ip_asc(param, host_.c_str()) == 1) return;
  X509_VERIFY_PARAM_set1_host(param, host_.data(), host_.size());
  X509_VERIFY_PARAM_set_hostflags(
      param, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
}

void ClientTls::identify(SSL_CTX* context) const {
  const auto certificate =
      pem_text(config_.certificate_pem, config_.certificate_file, "client certificate");
  if (certificate.empty()) return;
  const auto key = pem_text(config_.key_pem, config_.key_file, "key of the client certificate");
  use_identity(context, certificate, key, "client certificate");
}

int ClientTls::verify(X509_STORE_CTX* chain, void* self) {
  const int verified = X509_verify_cert(chain);
  if (verified != 1) {
    auto& tls = *static_cast<ClientTls*>(self);
    const std::lock_guard lock(tls.mutex_);
    ++tls.refusals_.count;
    tls.refusals_.last_reason =
        base::cat("certificate of ", tls.host_,
                  " refused: ", X509_verify_cert_error_string(X509_STORE_CTX_get_error(chain)));
  }
  return verified;
}

ClientTls::Refusals ClientTls::refusals() const {
  const std::lock_guard lock(mutex_);
  return refusals_;
}

}  // namespace cdom::http
