#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "api/fields/fields.h"
#include "api/protobuf/envelope.h"
#include "compute_domain/api/codec.h"
#include "compute_domain/base/text.h"
#include "status_json.h"

namespace cdom::api {

namespace {

using base::ErrorKind;

// A body that is not a Status can be a proxy's whole page.
constexpr std::size_t kMostOfABody = 200;

std::string one_line(std::string_view body) {
  std::string line = base::shortened(std::string(base::trim(body)), kMostOfABody);
  std::ranges::replace_if(
      line, [](unsigned char c) { return c < ' '; }, ' ');
  return line;
}

struct ReasonKind {
  std::string_view reason;
  ErrorKind kind;
};

// The reasons that decide where the code alone does not (409), or stand in a watch event without a
// code.
constexpr std::array kReasons = {
    ReasonKind{"AlreadyExists", ErrorKind::AlreadyExists},
    ReasonKind{"Conflict", ErrorKind::Conflict},
    ReasonKind{"NotFound", ErrorKind::NotFound},
    ReasonKind{"Expired", ErrorKind::Expired},
    ReasonKind{"Gone", ErrorKind::Expired},
    ReasonKind{"Invalid", ErrorKind::Invalid},
    ReasonKind{"BadRequest", ErrorKind::Invalid},
    ReasonKind{"Forbidden", ErrorKind::Forbidden},
    ReasonKind{"Unauthorized", ErrorKind::Forbidden},
};

ErrorKind kind_of_code(int code) {
  switch (code) {
    case 401:
    case 403:
      return ErrorKind::Forbidden;
    case 404:
      return ErrorKind::NotFound;
    case 409:
      return ErrorKind::Conflict;
    case 410:
      return ErrorKind::Expired;
    case 400:
    case 405:  // method not allowed
    case 406:  // not acceptable
    case 413:  // too large
    case 415:  // media type
    case 422:
      return ErrorKind::Invalid;
    default:
      return ErrorKind::Unavailable;
  }
}

}  // namespace

template <>
inline constexpr auto kFields<StatusFields> =
    std::tuple{field("code", &StatusFields::code), field("reason", &StatusFields::reason),
               field("message", &StatusFields::message),
               field("details.retryAfterSeconds", &StatusFields::retry_after_seconds),
               field("details.name", &StatusFields::object)};

Status status_in(const JsonView& json, int code) {
  StatusFields fields;
  Decoding decoding;  // a Status is read as far as it can be
  read(decoding, json, fields);
  return status_of(fields, code);
}

Status status_of(const StatusFields& fields, int code) {
  Status status{fields.code > 0 && fields.code < 1000 ? static_cast<int>(fields.code) : code,
                fields.reason, fields.message, std::nullopt, fields.object};
  if (fields.retry_after_seconds > 0) {
    constexpr std::int64_t kMost = 24L * 60 * 60;
    status.retry_after = std::chrono::seconds{std::min(fields.retry_after_seconds, kMost)};
  }
  return status;
}

Status decode_status(int http_code, std::string_view body) {
  static const Wanted wanted = [] {
    Wanted fields = wanted_fields<StatusFields>();
    fields.members["kind"].everything = true;
    return fields;
  }();
  if (is_enveloped(body)) {
    if (const auto fields = status_in_envelope(body)) return status_of(*fields, http_code);
  }
  const auto json = parse_json(body, wanted);
  if (json && json->is_object() && json->contains("kind") && json->at("kind") == "Status") {
    return status_in(*json, http_code);
  }
  const auto said = one_line(body);
  return {http_code, "", base::cat("HTTP ", http_code, said.empty() ? "" : ": ", said),
          std::nullopt};
}

base::Error error_of(const Status& status) {
  const auto known =
      std::ranges::find(kReasons, std::string_view(status.reason), &ReasonKind::reason);
  const auto kind = known != kReasons.end() ? known->kind : kind_of_code(status.code);
  const auto message = status.message.empty() ? base::cat("HTTP ", status.code) : status.message;
  return {.kind = kind,
          .message = message,
          .retry_after = status.retry_after,
          .is_unauthenticated = status.code == 401 || status.reason == "Unauthorized"};
}

}  // namespace cdom::api
