// The first lines of a reply as they go over the wire. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "compute_domain/http/message.h"

namespace cdom::http {

// How the peer sees the end of a reply's body.
struct Framing {
  enum class Body { Length, Chunked, UntilClose };
  Body body = Body::Length;
  std::size_t length = 0;  // with Body::Length
  bool keep_alive = true;
};

// A reply of this status ends with its fields (RFC 9110, 6.4.1).
bool has_no_body(int status);

// Status line and fields, up to and with the empty line. Fields that concern the framing come from
// `framing` only; control characters in values become spaces.
std::string reply_head(const Response& response, const Framing& framing);

}  // namespace cdom::http
