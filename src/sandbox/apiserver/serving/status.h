// Status: the answer with which a Kubernetes API server refuses a request, and the exception that
// carries it.
//
// StatusError is the one exception of this module: any step of a request may throw it, and
// ApiServer turns it into the response. The builders word the messages as kube-apiserver does
// (apimachinery, api/errors). Values; build them on any thread.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/http/message.h"
#include "sandbox/apiserver/rules/cause.h"

namespace cdom::sandbox::server {

struct Kind;

struct Status {
  int code = 500;
  std::string reason;
  std::string message;
  // details: absent when `kind` and `causes` are empty
  std::string name, group, kind, uid;
  std::vector<Cause> causes;
  std::optional<int> retry_after_seconds = std::nullopt;
  std::string continue_token = {};  // metadata.continue of an Expired list

  [[nodiscard]] std::string to_json() const;
};

class StatusError : public std::exception {
 public:
  explicit StatusError(Status status) : status_(std::move(status)) {}
  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] const char* what() const noexcept override { return status_.message.c_str(); }

 private:
  Status status_;
};

Status bad_request(std::string message);
Status unauthorized();
Status forbidden(const Kind& kind, std::string_view name, std::string_view why);
Status not_found(const Kind& kind, std::string_view name);
Status no_such_path();
Status method_not_allowed(const Kind& kind, std::string_view verb);
Status already_exists(const Kind& kind, std::string_view name);
Status conflict(const Kind& kind, std::string_view name, std::string_view why);
// Another writer was faster: "the object has been modified; …".
Status stale(const Kind& kind, std::string_view name);
Status expired(std::string message);
Status unsupported_media_type(const std::vector<std::string>& accepted);
Status not_acceptable(std::string message);
Status invalid(const Kind& kind, std::string_view name, std::vector<Cause> causes);
// 422 for query options, of which Kubernetes speaks as kind "ListOptions", "PatchOptions"…
Status invalid_options(std::string_view options_kind, std::vector<Cause> causes);
Status too_many_requests(int retry_after_seconds);
Status internal_error(std::string_view why);
Status resource_version_too_large(std::string_view wanted, std::string_view current);

// Causes with the messages of field.Error: "Invalid value: …", "Forbidden: …", "Required value".
Cause invalid_value(std::string field, std::string_view value, std::string_view why);
Cause forbidden_field(std::string field, std::string_view why);
Cause required_field(std::string field, std::string_view why = "");

// A text as Go's %q prints it in most messages: between double quotes.
std::string in_quotes(std::string_view text);

http::Response to_response(const Status& status);

}  // namespace cdom::sandbox::server
