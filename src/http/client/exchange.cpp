#include "http/client/exchange.h"

#include <cerrno>
#include <utility>

#include "compute_domain/base/text.h"
#include "http/pipe_buffer.h"

namespace cdom::http {
namespace {

using base::cat;
using base::Error;
using base::ErrorKind;
using web::http::http_response;

Response head_of(const http_response& response) {
  Response head;
  head.status = response.status_code();
  for (const auto& [name, value] : response.headers()) head.headers[name] = value;
  return head;
}

// Only content_ready() tells how a body ended that goes to a stream of ours.
void end_with_body(const http_response& response, const std::shared_ptr<Pipe>& pipe,
                   const Explainer& explain) {
  response.content_ready().then([pipe, explain](const pplx::task<http_response>& body) {
    try {
      body.get();
      pipe->end();
    } catch (...) {
      pipe->fail(explain(std::current_exception()));
    }
  });
}

}  // namespace

Explainer::Explainer(std::string what, base::Duration idle_timeout,
                     std::shared_ptr<const ClientTls> tls)
    : what_(std::move(what)),
      idle_timeout_(idle_timeout),
      tls_(std::move(tls)),
      refusals_before_(tls_->refusals().count) {}

Error Explainer::operator()(const std::exception_ptr& thrown) const {
  const auto unavailable = [this](std::string_view reason) {
    return Error{ErrorKind::Unavailable, cat(what_, ": ", reason)};
  };
  Error cancelled{ErrorKind::Cancelled, cat(what_, ": cancelled")};
  try {
    std::rethrow_exception(thrown);
  } catch (const web::http::http_exception& e) {
    // Only these two of cpprest's codes have one meaning each.
    const int code = e.error_code().value();
    if (code == ECANCELED) return cancelled;
    if (code == ETIMEDOUT) {
      // It is a large piece of the answer that has not come: some of it may have.
      return unavailable(cat("too little was heard for ", base::short_duration(idle_timeout_),
                             "; the server or the way to it is slow, or silent"));
    }
    // For a refused certificate it says only that the handshake failed.
    const auto refusals = tls_->refusals();
    return unavailable(refusals.count > refusals_before_ ? refusals.last_reason : e.what());
  } catch (const pplx::task_canceled&) {
    return cancelled;
  } catch (const std::exception& e) {
    return unavailable(e.what());
  }
}

Exchange::Exchange(web::http::client::http_client& client, web::http::http_request request,
                   Explainer explain, const std::stop_token& stop, std::function<void()> on_news)
    : pipe_(std::make_shared<Pipe>(std::move(on_news))), on_stop_(stop, Cancel{this}) {
  const auto buffer = std::make_shared<PipeBuffer>(pipe_);
  request.set_response_stream(concurrency::streams::streambuf<uint8_t>(buffer).create_ostream());
  client.request(request, cancellation_.get_token())
      .then([pipe = pipe_, explain = std::move(explain)](const pplx::task<http_response>& answer) {
        try {
          const auto response = answer.get();
          pipe->set_head(head_of(response));
          end_with_body(response, pipe, explain);
        } catch (...) {
          pipe->fail(explain(std::current_exception()));
        }
      });
}

Exchange::~Exchange() {
  // Cancelling what is over would close a connection that the next request can use.
  if (!pipe_->is_over()) cancel();
}

void Exchange::cancel() {
  pipe_->cancel();  // first: a body that waits for room must not keep the connection
  cancellation_.cancel();
}

}  // namespace cdom::http
