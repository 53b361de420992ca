#include "sandbox/server/unknown_fields.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/schema/validate.h"
#include "sandbox/server/custom_version.h"
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

void tell_unknown_fields(Call& call, json& object) {
  if (!call.kind->is_custom()) return;
  std::vector<std::string> told;
  for (const std::string& field : schema::prune(object, *call.kind->custom->schema)) {
    told.push_back(cat("unknown field \"", field, "\""));
  }
  if (told.empty() || call.field_validation == FieldValidation::Ignore) return;
  if (call.field_validation == FieldValidation::Strict) {
    throw StatusError(bad_request(cat("strict decoding error: ", base::join(told, ", "))));
  }
  for (std::string& warning : told) call.warnings.push_back(std::move(warning));
}

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
