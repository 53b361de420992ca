#include "sandbox/apiserver/serving/in_process_client.h"

#include <algorithm>
#include <utility>

#include "sandbox/apiserver/serving/status.h"

namespace cdom::sandbox::server {

namespace {

base::Error shut_down_error() {
  return {.kind = base::ErrorKind::Cancelled, .message = "the client is shut down"};
}

base::Error broken() {
  return {.kind = base::ErrorKind::Unavailable,
          .message = "the connection to the API server broke before its answer came"};
}

// As http::ClientConfig::request_timeout. Shorter delays cannot be waited for here: the clock may
// stand still.
constexpr base::Duration kRequestTimeout = std::chrono::seconds(10);

}  // namespace

http::Opened opened_from(Outcome outcome) {
  http::Opened opened{.response = std::move(outcome.response), .stream = std::move(outcome.stream)};
  if (opened.stream == nullptr && opened.response.status == 200) {
    opened.stream = std::make_unique<WholeBody>(std::exchange(opened.response.body, ""));
  }
  return opened;
}

base::Result<http::Response> InProcessClient::send(const http::Request& request) {
  if (is_shut_down_) return shut_down_error();
  Outcome outcome = server_.serve(request, user_);
  if (outcome.is_broken || outcome.delay >= kRequestTimeout) return broken();
  if (outcome.stream != nullptr) {
    return to_response(bad_request("a watch is opened, not asked for: use open()"));
  }
  return std::move(outcome.response);
}

base::Result<http::Opened> InProcessClient::open(const http::Request& request) {
  if (is_shut_down_) return shut_down_error();
  Outcome outcome = server_.serve(request, user_);
  if (outcome.is_broken || outcome.delay >= kRequestTimeout) return broken();
  return opened_from(std::move(outcome));
}

base::Result<http::StreamRead> WholeBody::next(base::Duration /*wait*/) {
  if (cancelled_) {
    return base::Error{.kind = base::ErrorKind::Cancelled, .message = "the stream was cancelled"};
  }
  if (at_ >= body_.size()) return http::StreamRead{.what = http::StreamRead::What::End};
  const auto newline = std::min(body_.find('\n', at_), body_.size());
  http::StreamRead read{.what = http::StreamRead::What::Line,
                        .line = std::string_view(body_).substr(at_, newline - at_)};
  at_ = newline + 1;
  return read;
}

}  // namespace cdom::sandbox::server
