// Request and Response: one HTTP exchange as plain values, for both client and server.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "compute_domain/base/clock.h"

namespace cdom::http {

// Field names compare without regard to case, as RFC 9110 has it.
struct FieldNameLess {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const;
};
using Headers = std::map<std::string, std::string, FieldNameLess>;

struct Request {
  std::string method = "GET";
  // Path and query, percent-encoded: "/api/v1/nodes?limit=500".
  std::string target;
  Headers headers;
  std::string body;
  // The longest body of the answer: a server must not fill this process's memory.
  std::size_t most_bytes = std::size_t{16} << 20;
  // Of a stream: after a read that has taken all there was the next one waits so long (10 ms at
  // most after much), so that what comes bit by bit wakes nobody for each. Below the idle timeout.
  base::Duration rest{};
};

struct Response {
  int status = 200;
  Headers headers;
  std::string body;
  // The body was longer than Request::most_bytes, and is left out.
  bool is_too_long = false;
};

Response plain_text(int status, std::string body);

// Percent-encodes everything but unreserved characters (RFC 3986), for one query value or segment.
std::string percent_encoded(std::string_view text);
// The reverse; "+" becomes a space when `plus_is_space` (in a query, as Go encodes it). A "%" that
// two hex digits do not follow stays as it is.
std::string percent_decoded(std::string_view text, bool plus_is_space);

// A URL as anybody may see it: without the name and password of a user (RFC 3986, userinfo).
std::string without_user(const std::string& url);

}  // namespace cdom::http
