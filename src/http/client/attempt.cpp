#include "http/client/attempt.h"

#include "compute_domain/base/text.h"

namespace cdom::http {
namespace {

// May be sent twice with the effect of once (RFC 9110, 9.2.2; a PATCH that names final values).
bool is_repeatable(const Request& request) {
  if (request.method == "PATCH") {
    const auto type = request.headers.find("Content-Type");
    return type != request.headers.end() && (type->second == "application/apply-patch+yaml" ||
                                             type->second == "application/merge-patch+json");
  }
  return request.method == "GET" || request.method == "HEAD" || request.method == "PUT" ||
         request.method == "DELETE";
}

}  // namespace

Attempt::Attempt(const Request& request, const Headers& extra,
                 const std::vector<std::pair<std::string, std::string>>& lines)
    : message_(request.method),
      is_repeatable_(is_repeatable(request)),
      body_size_(request.body.size()),
      body_(body_size_ + 1) {
  message_.set_request_uri(web::uri(request.target));
  if (!is_repeatable_) {
    // Both are done when they return; nothing waits here.
    body_.putn_nocopy(reinterpret_cast<const uint8_t*>(request.body.data()), body_size_).wait();
    body_.close(std::ios_base::out).wait();
    message_.set_body(body_.create_istream(), body_size_);
  } else if (body_size_ > 0) {
    message_.set_body(request.body);
  }
  auto& headers = message_.headers();
  headers.remove("Content-Type");  // set_body() made one up
  for (const auto& [name, value] : request.headers) headers.add(name, value);
  for (const auto& [name, value] : extra) {
    if (!headers.has(name)) headers.add(name, value);
  }
  // The library has one value to a name, and writes it as it is: what is behind a line break in it
  // is the next line.
  for (const auto& [name, value] : lines) {
    std::string& all = headers[name];
    all += all.empty() ? value : base::cat("\r\n", name, ": ", value);
  }
}

bool Attempt::may_be_repeated() const {
  return is_repeatable_ || (body_size_ > 0 && body_.in_avail() == body_size_);
}

}  // namespace cdom::http
