#include "sandbox/server/unknown_fields.h"

#include "compute_domain/base/text.h"
#include "sandbox/server/status.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

FieldValidation wanted_field_validation(const RequestInfo& info) {
  const std::string& wanted = info.option("fieldValidation");
  if (wanted.empty() || wanted == "Warn") return FieldValidation::Warn;
  if (wanted == "Strict") return FieldValidation::Strict;
  if (wanted == "Ignore") return FieldValidation::Ignore;
  throw StatusError(invalid_options(
      "CreateOptions", {{.reason = "FieldValueNotSupported",
                         .message = cat("Unsupported value: \"", wanted,
                                        "\": supported values: \"Ignore\", \"Strict\", \"Warn\""),
                         .field = "fieldValidation"}}));
}

void add_warnings(const Call& call, http::Response& response) {
  // One header line holds them all: a header of this http module has one value.
  std::vector<std::string> values;
  for (const std::string& warning : call.warnings) {
    values.push_back(cat("299 - \"", escaped(warning), "\""));
  }
  if (!values.empty()) response.headers["Warning"] = base::join(values, ", ");
}

}  // namespace cdom::sandbox::server
