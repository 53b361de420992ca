#include "http/test_ca.h"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <atomic>

namespace cdom::http {
namespace {

template <class Write>
std::string pem_of(Write write) {
  const std::unique_ptr<BIO, int (*)(BIO*)> memory(BIO_new(BIO_s_mem()), BIO_free);
  write(memory.get());
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

std::string pem_of(X509* certificate) {
  return pem_of([=](BIO* out) { PEM_write_bio_X509(out, certificate); });
}

void add_extension(X509* certificate, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

long next_serial() {
  static std::atomic<long> next = 1;
  return next++;
}

X509* new_certificate(EVP_PKEY* key, const std::string& common_name, long valid_for) {
  X509* certificate = X509_new();
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), next_serial());
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), valid_for);
  X509_set_pubkey(certificate, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                             0);
  return certificate;
}

}  // namespace

TestCa::TestCa() : TestCa(nullptr) {}

TestCa::TestCa(const TestCa* issuer) : key_(EVP_EC_gen("P-256")) {
  certificate_.reset(new_certificate(key_.get(), "test CA " + std::to_string(next_serial()), 3600));
  X509* by = issuer == nullptr ? certificate_.get() : issuer->certificate_.get();
  EVP_PKEY* key = issuer == nullptr ? key_.get() : issuer->key_.get();
  X509_set_issuer_name(certificate_.get(), X509_get_subject_name(by));
  add_extension(certificate_.get(), by, NID_basic_constraints, "critical,CA:TRUE");
  X509_sign(certificate_.get(), key, EVP_sha256());
  pem_ = pem_of(certificate_.get());
}

Identity TestCa::issue(const std::string& common_name, const std::string& alternative_names,
                       long valid_for) const {
  const std::unique_ptr<EVP_PKEY, Free> key(EVP_EC_gen("P-256"));
  const std::unique_ptr<X509, Free> certificate(new_certificate(key.get(), common_name, valid_for));
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate_.get()));
  if (!alternative_names.empty()) {
    add_extension(certificate.get(), certificate_.get(), NID_subject_alt_name, alternative_names);
  }
  X509_sign(certificate.get(), key_.get(), EVP_sha256());
  const auto write_key = [&](BIO* out) {
    PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  };
  return {pem_of(certificate.get()), pem_of(write_key)};
}

}  // namespace cdom::http
