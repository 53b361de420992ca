// Credentials: by which the stand-in daemons know each other when IMEX_ENABLE_AUTH_ENCRYPTION is
// set.
//
// As mutual TLS does it, without the encryption: each shows a certificate that an authority has
// issued for the name that is expected, and a signature of its key.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

#include "imex/stand_in/parameters.h"

namespace cdom::stand_in {

class Credentials {
 public:
  // Who dials is the client.
  enum class Role { Client, Server };

  // Ends the program where the configuration or a file of it prevents that the daemon starts.
  explicit Credentials(const Parameters& parameters);
  // The files again; what was read before stays when they cannot be.
  void reload();
  // One word: what this side, in that role, has to show; "-" without authentication.
  [[nodiscard]] std::string proof_of(const std::string& instance, Role own) const;
  // Whether it is that of somebody whom the authority of this side knows. "" or why not.
  [[nodiscard]] std::string fault_of(const std::string& proof, const std::string& instance,
                                     Role own) const;

 private:
  template <auto Free>
  struct Freed {
    template <class T>
    void operator()(T* one) const {
      Free(one);
    }
  };
  using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
  using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
  struct Material {
    Key key;
    Certificate certificate, authority;
  };
  static std::string read(const IdentityFiles& files, Material& material);  // "" or the fault
  std::string read_all(Material& client, Material& server) const;           // the same
  [[nodiscard]] const Material& of(Role role) const {
    return role == Role::Client ? client_ : server_;
  }

  const Parameters& parameters_;
  Material client_, server_;
};

}  // namespace cdom::stand_in
