// Attempt: a Request as cpprest sends it, once, and whether it may be sent again.
//
// cpprest resends a request by itself when a kept-alive connection ends before the answer, a POST
// too, but not when it cannot rewind the body. So a request that must not be repeated gets a body
// that cannot be rewound, and that knows whether cpprest came to read it, which it does once the
// header fields are written: what failed before that was not processed.
#pragma once

#include <cpprest/http_msg.h>
#include <cpprest/producerconsumerstream.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "compute_domain/http/message.h"

namespace cdom::http {

class Attempt {
 public:
  // The fields of `request` go before those in `extra`; each of `lines` is a line of its own.
  // Throws web::uri_exception when the target is not percent-encoded.
  Attempt(const Request& request, const Headers& extra,
          const std::vector<std::pair<std::string, std::string>>& lines);

  [[nodiscard]] const web::http::http_request& message() const { return message_; }
  // After it failed: true when sending the request again cannot do its work twice.
  [[nodiscard]] bool may_be_repeated() const;

 private:
  web::http::http_request message_;
  bool is_repeatable_;
  std::size_t body_size_;
  concurrency::streams::producer_consumer_buffer<uint8_t> body_;  // unless repeatable
};

}  // namespace cdom::http
