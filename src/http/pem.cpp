#include "http/pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "compute_domain/base/text.h"

namespace cdom::http {
namespace {

struct Free {
  void operator()(BIO* p) const { BIO_free(p); }
  void operator()(X509* p) const { X509_free(p); }
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

[[noreturn]] void fail(const char* what, const std::string& reason) {
  throw std::runtime_error(base::cat(what, ": ", reason));
}

std::string openssl_reason() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  return reason != nullptr ? reason : "not usable";
}

Owned<BIO> reader_of(const std::string& pem) {
  return Owned<BIO>(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

bool is_end_of(BIO* reader) {
  const unsigned long error = ERR_peek_last_error();
  return BIO_eof(reader) != 0 ||
         (ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE);
}

// OpenSSL would ask for it on the terminal.
int no_password(char* /*buffer*/, int /*size*/, int /*is_for_writing*/, void* /*context*/) {
  return -1;
}

// One that cannot be read is passed over, as Go does, and does not hide those behind it.
std::vector<Owned<X509>> certificates_in(const std::string& pem, const char* what) {
  const auto reader = reader_of(pem);
  std::vector<Owned<X509>> all;
  for (;;) {
    ERR_clear_error();
    if (X509* next = PEM_read_bio_X509(reader.get(), nullptr, no_password, nullptr)) {
      all.emplace_back(next);
    } else if (is_end_of(reader.get())) {
      break;
    }
  }
  ERR_clear_error();  // the end of the text is an error to OpenSSL
  if (all.empty()) fail(what, "no PEM certificate in it");
  return all;
}

}  // namespace

std::string pem_text(const std::string& pem, const std::string& file, const char* what) {
  if (!pem.empty() || file.empty()) return pem;
  std::ifstream in(file);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad()) {
    fail(what, base::cat(file, ": ", std::generic_category().message(errno)));
  }
  return text;
}

void trust_only(SSL_CTX* context, const std::string& pem, const char* what) {
  X509_STORE* store = X509_STORE_new();
  SSL_CTX_set_cert_store(context, store);  // takes it over
  for (const auto& certificate : certificates_in(pem, what)) {
    if (X509_STORE_add_cert(store, certificate.get()) != 1) fail(what, openssl_reason());
  }
  // Each of them is trusted for itself, an intermediate too, as by Go's x509.CertPool.
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
}

void use_identity(SSL_CTX* context, const std::string& certificate, const std::string& key,
                  const char* what) {
  auto chain = certificates_in(certificate, what);
  if (SSL_CTX_use_certificate(context, chain.front().get()) != 1) fail(what, openssl_reason());
  for (std::size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context, chain[i].get()) != 1) fail(what, openssl_reason());
  }
  const Owned<EVP_PKEY> owned_key(
      PEM_read_bio_PrivateKey(reader_of(key).get(), nullptr, no_password, nullptr));
  if (!owned_key) fail(what, "no PEM private key beside it");
  if (SSL_CTX_use_PrivateKey(context, owned_key.get()) != 1) {
    fail(what, base::cat("its private key: ", openssl_reason()));
  }
}

}  // namespace cdom::http
