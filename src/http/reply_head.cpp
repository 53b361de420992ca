#include "http/reply_head.h"

#include <ostream>  // Boost 1.74 forgets it

#include <boost/beast/http/status.hpp>

#include "compute_domain/base/text.h"

namespace cdom::http {
namespace {

bool concerns_framing(const std::string& name) {
  const std::string lower = base::to_lower(name);
  return lower == "content-length" || lower == "transfer-encoding" || lower == "connection";
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  for (const char c : value) out += static_cast<unsigned char>(c) < ' ' && c != '\t' ? ' ' : c;
  out += "\r\n";
}

}  // namespace

bool has_no_body(int status) { return status < 200 || status == 204 || status == 304; }

std::string reply_head(const Response& response, const Framing& framing) {
  namespace beast = boost::beast::http;
  const auto reason =
      beast::obsolete_reason(beast::int_to_status(static_cast<unsigned>(response.status)));
  std::string out = base::cat("HTTP/1.1 ", response.status, " ",
                              std::string_view(reason.data(), reason.size()), "\r\n");
  for (const auto& [name, value] : response.headers) {
    if (!concerns_framing(name)) append_field(out, name, value);
  }
  if (framing.body == Framing::Body::Chunked) {
    append_field(out, "Transfer-Encoding", "chunked");
  } else if (framing.body == Framing::Body::Length && !has_no_body(response.status)) {
    append_field(out, "Content-Length", std::to_string(framing.length));
  }
  if (!framing.keep_alive) append_field(out, "Connection", "close");
  out += "\r\n";
  return out;
}

}  // namespace cdom::http
