// ApiFront: an ApiServer behind a socket, for kubectl and for processes of their own.
//
// Plain HTTP for the loopback: a request with a bearer token that the server gave out comes from
// that ServiceAccount, one without any from the administrator. Watches are fed from the I/O thread
// of the HTTP server. Stops when destroyed; the ApiServer must outlive it.
#pragma once

#include <memory>
#include <string>

#include "compute_domain/base/result.h"
#include "compute_domain/sandbox/api_server.h"

namespace cdom::sandbox {

class ApiFront {
 public:
  virtual ~ApiFront() = default;
  // "127.0.0.1:38211".
  [[nodiscard]] virtual std::string address() const = 0;
};

// Listens on `listen` ("127.0.0.1:0" for a port of the system's choice). One front per server.
base::Result<std::unique_ptr<ApiFront>> serve(ApiServer& server, const std::string& listen);

// A kubeconfig for http://`address` with that bearer token, as YAML.
std::string kubeconfig(const std::string& address, const std::string& token,
                       const std::string& user = "admin");
// Writes it so that others cannot read it, and not half. Invalid: the file cannot be written.
base::Result<void> write_kubeconfig(const std::string& path, const std::string& text);

}  // namespace cdom::sandbox
