#include "cli/health/reader_guard.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "compute_domain/base/text.h"

namespace cdom::cli {

namespace {

using base::cat;

// What a bearer token (RFC 6750) may hold beside letters and digits.
constexpr std::string_view kTokenPunctuation = "-._~+/=";

http::Response unauthorized() {
  http::Response response = http::plain_text(401, "give a valid bearer token\n");
  response.headers["WWW-Authenticate"] = "Bearer";
  return response;
}

bool is_token_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         kTokenPunctuation.find(c) != std::string_view::npos;
}

// "" when there is none, or what cannot be one.
std::string bearer_token(const http::Headers& headers) {
  constexpr std::string_view kScheme = "bearer ";
  const auto field = headers.find("Authorization");
  if (field == headers.end()) return "";
  const std::string_view value = field->second;
  if (base::to_lower(value.substr(0, kScheme.size())) != kScheme) return "";
  const std::string_view token = base::trim(value.substr(kScheme.size()));
  return std::ranges::all_of(token, is_token_character) ? std::string(token) : "";
}

}  // namespace

ReaderGuard::ReaderGuard(std::unique_ptr<MetricsReaders> readers, std::string path)
    : path_(std::move(path)), readers_(std::move(readers)) {}

http::Reply ReaderGuard::reply(const http::Request& request, Produce produce) {
  if (!readers_) return http::LateReply{std::move(produce)};
  const std::string token = bearer_token(request.headers);
  if (token.empty()) return unauthorized();
  return http::LateReply{[this, token, produce = std::move(produce)](const Answer& answer) {
    readers_->ask(token, [this, answer, produce](MetricsReaders::Answer is) {
      if (is == MetricsReaders::Answer::Allowed) return produce(answer);
      answer(refusal(is));
    });
  }};
}

http::Response ReaderGuard::refusal(MetricsReaders::Answer answer) const {
  switch (answer) {
    case MetricsReaders::Answer::UnknownToken:
      return unauthorized();
    case MetricsReaders::Answer::NotAllowed:
      return http::plain_text(403, cat("the token's user may not get ", path_, "\n"));
    case MetricsReaders::Answer::Busy:
      return http::plain_text(503, "too many requests wait for the API server\n");
    case MetricsReaders::Answer::Allowed:
    case MetricsReaders::Answer::NotKnown:
      break;
  }
  return http::plain_text(500, "the API server could not be asked; the log says why\n");
}

}  // namespace cdom::cli
