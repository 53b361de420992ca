// ClientTls: whom a client trusts, who it says it is, and why a server was refused.
//
// set_up() prepares one connection; it reads the files anew, so that rotated certificates are used
// from the next connection on. Only the configured CAs count, and a name counts only when it is
// among the subject alternative names, as Go has it. Thread-safe.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <mutex>
#include <string>

#include "compute_domain/http/client.h"

namespace cdom::http {

class ClientTls {
 public:
  // `host` is the name or address that the server's certificate must have.
  ClientTls(const ClientConfig& config, std::string host);

  // Throws std::runtime_error that names the file or field at fault. `context` must not outlive
  // this object.
  void set_up(SSL_CTX* context);

  // How many servers were refused so far, and why the last one was: "certificate has expired",
  // "unable to get local issuer certificate", …
  struct Refusals {
    std::uint64_t count = 0;
    std::string last_reason;
  };
  [[nodiscard]] Refusals refusals() const;

 private:
  void trust(SSL_CTX* context) const;
  void demand_name(SSL_CTX* context) const;
  void identify(SSL_CTX* context) const;
  static int verify(X509_STORE_CTX* chain, void* self);

  const ClientConfig config_;
  const std::string host_;
  mutable std::mutex mutex_;
  Refusals refusals_;
};

}  // namespace cdom::http
