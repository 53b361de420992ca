// InProcessClient: an http::Client that calls an ApiServer of this process, without sockets.
#pragma once

#include <atomic>
#include <string>

#include "compute_domain/http/client.h"
#include "compute_domain/sandbox/api_server.h"
#include "sandbox/apiserver/serving/outcome.h"

namespace cdom::sandbox::server {

class InProcessClient : public http::Client {
 public:
  // The server must outlive the client.
  InProcessClient(ApiServer& server, User user) : server_(server), user_(std::move(user)) {}

  base::Result<http::Response> send(const http::Request& request) override;
  base::Result<http::Opened> open(const http::Request& request) override;
  void shut_down() override { is_shut_down_ = true; }

 private:
  ApiServer& server_;
  const User user_;
  std::atomic<bool> is_shut_down_ = false;
};

// A stream, or the whole answer as one.
http::Opened opened_from(Outcome outcome);

// A whole answer as a stream of lines that ends.
class WholeBody : public http::Stream {
 public:
  explicit WholeBody(std::string body) : body_(std::move(body)) {}
  base::Result<http::StreamRead> next(base::Duration wait) override;
  void cancel() override { cancelled_ = true; }

 private:
  std::string body_;
  std::size_t at_ = 0;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace cdom::sandbox::server
