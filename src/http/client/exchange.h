// Exchange: one request on its way, and the Pipe through which its answer comes.
//
// The callbacks that fill the pipe run on cpprest's threads and hold only the pipe, so an Exchange
// may be destroyed at any time, which cancels it. cancel() from any thread.
#pragma once

#include <cpprest/http_client.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"
#include "http/client/client_tls.h"
#include "http/client/response_source.h"

namespace cdom::http {

// Puts what cpprest threw during one exchange into words.
class Explainer {
 public:
  // `what` is the request ("GET https://host/path"), `idle_timeout` the one of its client.
  Explainer(std::string what, base::Duration idle_timeout, std::shared_ptr<const ClientTls> tls);
  base::Error operator()(const std::exception_ptr& thrown) const;

 private:
  std::string what_;
  base::Duration idle_timeout_;
  std::shared_ptr<const ClientTls> tls_;
  std::uint64_t refusals_before_;
};

class Exchange : public ResponseSource {
 public:
  // Sends `request`; a request to stop is a cancel(). `on_news` is the pipe's.
  Exchange(web::http::client::http_client& client, web::http::http_request request,
           Explainer explain, const std::stop_token& stop, std::function<void()> on_news = {});
  ~Exchange() override;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void cancel() override;
  Pipe& pipe() override { return *pipe_; }

 private:
  struct Cancel {
    Exchange* exchange;
    void operator()() const { exchange->cancel(); }
  };

  const std::shared_ptr<Pipe> pipe_;
  pplx::cancellation_token_source cancellation_;
  std::stop_callback<Cancel> on_stop_;
};

}  // namespace cdom::http
