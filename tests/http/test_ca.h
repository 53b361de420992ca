// TestCa: a certificate authority that lives as long as a test.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace cdom::http {

struct Identity {
  std::string certificate_pem;
  std::string key_pem;
};

class TestCa {
 public:
  TestCa();
  // An intermediate authority, of which this one is the issuer.
  [[nodiscard]] TestCa intermediate() const { return TestCa(this); }

  [[nodiscard]] const std::string& pem() const { return pem_; }
  // `alternative_names` as OpenSSL writes them: "IP:127.0.0.1,DNS:localhost"; none when empty.
  // Valid from an hour ago until `valid_for` seconds from now.
  [[nodiscard]] Identity issue(const std::string& common_name, const std::string& alternative_names,
                               long valid_for = 3600) const;

 private:
  explicit TestCa(const TestCa* issuer);  // null: itself
  struct Free {
    void operator()(X509* p) const { X509_free(p); }
    void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  };
  std::unique_ptr<EVP_PKEY, Free> key_;
  std::unique_ptr<X509, Free> certificate_;
  std::string pem_;
};

}  // namespace cdom::http
