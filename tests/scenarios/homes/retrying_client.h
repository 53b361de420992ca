// RetryingClient: asks again where client-go does, and so kubectl: an answer 429 or 5xx with a
// Retry-After is not the last one; at most ten such answers are waited for.
// (k8s.io/client-go/rest/with_retry.go, and request.go for the ten.)
#pragma once

#include <functional>

#include "compute_domain/http/client.h"

namespace cdom::scenarios {

class RetryingClient : public http::Client {
 public:
  // `wait` lets the time pass that the server asks for. `server` outlives this.
  RetryingClient(http::Client& server, std::function<void(base::Duration)> wait);

  base::Result<http::Response> send(const http::Request& request) override;
  base::Result<http::Opened> open(const http::Request& request) override;
  void shut_down() override;

 private:
  // Whether the server has asked to come back, after which the time has passed.
  bool waited_for(const http::Response& response);

  http::Client& server_;
  const std::function<void(base::Duration)> wait_;
};

}  // namespace cdom::scenarios
