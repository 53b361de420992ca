#include "sandbox/apiserver/serving/status.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/kinds/kinds.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

Status about(const Kind& kind, std::string_view name, int code, std::string reason,
             std::string message) {
  Status status{.code = code, .reason = std::move(reason), .message = std::move(message)};
  status.name = name;
  status.group = kind.group;
  status.kind = kind.resource;
  return status;
}

std::string subject(const Kind& kind, std::string_view name) {
  return cat(kind.qualified_resource(), " \"", name, "\"");
}

}  // namespace

std::string Status::to_json() const {
  nlohmann::json out = {
      {"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", nlohmann::json::object()},
      {"status", "Failure"}, {"message", message}, {"reason", reason},
      {"code", code}};
  if (!continue_token.empty()) out["metadata"]["continue"] = continue_token;
  nlohmann::json details = nlohmann::json::object();
  if (!name.empty()) details["name"] = name;
  if (!group.empty()) details["group"] = group;
  if (!kind.empty()) details["kind"] = kind;
  if (!uid.empty()) details["uid"] = uid;
  for (const Cause& cause : causes) {
    nlohmann::json entry = {{"reason", cause.reason}, {"message", cause.message}};
    if (!cause.field.empty()) entry["field"] = cause.field;
    details["causes"].push_back(std::move(entry));
  }
  if (retry_after_seconds) details["retryAfterSeconds"] = *retry_after_seconds;
  if (!details.empty() || code == 404) out["details"] = std::move(details);
  // A message may quote what a client sent, which need not be UTF-8.
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Status bad_request(std::string message) {
  return {.code = 400, .reason = "BadRequest", .message = std::move(message)};
}

Status unauthorized() { return {.code = 401, .reason = "Unauthorized", .message = "Unauthorized"}; }

Status forbidden(const Kind& kind, std::string_view name, std::string_view why) {
  return about(kind, name, 403, "Forbidden",
               name.empty() ? cat(kind.qualified_resource(), " is forbidden: ", why)
                            : cat(subject(kind, name), " is forbidden: ", why));
}

Status not_found(const Kind& kind, std::string_view name) {
  return about(kind, name, 404, "NotFound", cat(subject(kind, name), " not found"));
}

Status no_such_path() {
  return {.code = 404,
          .reason = "NotFound",
          .message = "the server could not find the requested resource"};
}

Status method_not_allowed(const Kind& kind, std::string_view verb) {
  return about(
      kind, "", 405, "MethodNotAllowed",
      cat(verb, " is not supported on resources of kind \"", kind.qualified_resource(), "\""));
}

Status already_exists(const Kind& kind, std::string_view name) {
  return about(kind, name, 409, "AlreadyExists", cat(subject(kind, name), " already exists"));
}

Status conflict(const Kind& kind, std::string_view name, std::string_view why) {
  return about(kind, name, 409, "Conflict",
               cat("Operation cannot be fulfilled on ", subject(kind, name), ": ", why));
}

Status stale(const Kind& kind, std::string_view name) {
  return conflict(kind, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

Status expired(std::string message) {
  return {.code = 410, .reason = "Expired", .message = std::move(message)};
}

Status unsupported_media_type(const std::vector<std::string>& accepted) {
  return {.code = 415,
          .reason = "UnsupportedMediaType",
          .message = cat("the body of the request was in an unknown format - accepted media types "
                         "include: ",
                         base::join(accepted, ", "))};
}

Status not_acceptable(std::string message) {
  return {.code = 406, .reason = "NotAcceptable", .message = std::move(message)};
}

Status invalid(const Kind& kind, std::string_view name, std::vector<Cause> causes) {
  Status status = about(kind, name, 422, "Invalid", "");
  // Here alone details.kind is the kind and not the resource.
  status.kind = kind.kind;
  status.message = invalid_message(kind.kind, kind.group, name, causes);
  status.causes = std::move(causes);
  return status;
}

Status invalid_options(std::string_view options_kind, std::vector<Cause> causes) {
  Status status{.code = 422, .reason = "Invalid"};
  status.group = "meta.k8s.io";
  status.kind = options_kind;
  status.message = invalid_message(options_kind, status.group, "", causes);
  status.causes = std::move(causes);
  return status;
}

Status too_many_requests(int retry_after_seconds) {
  Status status{.code = 429,
                .reason = "TooManyRequests",
                .message = "Too many requests, please try again later."};
  status.retry_after_seconds = retry_after_seconds;
  return status;
}

Status internal_error(std::string_view why) {
  Status status{
      .code = 500, .reason = "InternalError", .message = cat("Internal error occurred: ", why)};
  status.causes.push_back({.reason = "InternalError", .message = std::string(why), .field = ""});
  return status;
}

Status resource_version_too_large(std::string_view wanted, std::string_view current) {
  Status status{.code = 504,
                .reason = "Timeout",
                .message = cat("Too large resource version: ", wanted, ", current: ", current)};
  status.causes.push_back(
      {.reason = "ResourceVersionTooLarge", .message = "Too large resource version", .field = ""});
  status.retry_after_seconds = 1;
  return status;
}

Cause invalid_value(std::string field, std::string_view value, std::string_view why) {
  return {.reason = "FieldValueInvalid",
          .message = cat("Invalid value: ", value, ": ", why),
          .field = std::move(field)};
}

Cause forbidden_field(std::string field, std::string_view why) {
  return {.reason = "FieldValueForbidden",
          .message = cat("Forbidden: ", why),
          .field = std::move(field)};
}

Cause required_field(std::string field, std::string_view why) {
  return {.reason = "FieldValueRequired",
          .message = why.empty() ? "Required value" : cat("Required value: ", why),
          .field = std::move(field)};
}

std::string in_quotes(std::string_view text) { return cat("\"", text, "\""); }

http::Response to_response(const Status& status) {
  http::Response response{
      .status = status.code,
      .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache, private"}},
      .body = status.to_json()};
  if (status.code == 429 && status.retry_after_seconds) {
    response.headers["Retry-After"] = std::to_string(*status.retry_after_seconds);
  }
  return response;
}

}  // namespace cdom::sandbox::server
