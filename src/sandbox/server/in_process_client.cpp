#include "sandbox/server/in_process_client.h"

namespace cdom::sandbox::server {

namespace {

base::Error shut_down_error() {
  return {.kind = base::ErrorKind::Cancelled, .message = "the client is shut down"};
}

}  // namespace

base::Result<http::Response> InProcessClient::send(const http::Request& request) {
  if (is_shut_down_) return shut_down_error();
  return server_.handle(request, user_);
}

base::Result<http::Opened> InProcessClient::open(const http::Request& request) {
  if (is_shut_down_) return shut_down_error();
  return server_.open(request, user_);
}

base::Result<http::StreamRead> WholeBody::next(base::Duration /*wait*/) {
  if (cancelled_) {
    return base::Error{.kind = base::ErrorKind::Cancelled, .message = "the stream was cancelled"};
  }
  if (at_ >= body_.size()) return http::StreamRead{.what = http::StreamRead::What::End};
  const auto newline = std::min(body_.find('\n', at_), body_.size());
  http::StreamRead read{.what = http::StreamRead::What::Line,
                        .line = body_.substr(at_, newline - at_)};
  at_ = newline + 1;
  return read;
}

}  // namespace cdom::sandbox::server
