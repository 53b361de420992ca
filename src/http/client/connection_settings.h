// How cpprest connects: the settings that make it fit for an API server and for long streams.
#pragma once

#include <cpprest/http_client.h>

#include <memory>

#include "compute_domain/base/clock.h"
#include "http/client/client_tls.h"

namespace cdom::http {

// For a client of `base`. No redirects, keepalive probes, and TLS as `tls` says; without
// verification when `verify_certificates` is false. `idle_timeout` is how long a peer may be
// silent.
web::http::client::http_client_config connection_settings(const web::uri& base,
                                                          const std::shared_ptr<ClientTls>& tls,
                                                          bool verify_certificates,
                                                          base::Duration idle_timeout);

}  // namespace cdom::http
