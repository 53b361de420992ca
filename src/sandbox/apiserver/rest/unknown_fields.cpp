#include "sandbox/apiserver/rest/unknown_fields.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/kinds/custom_version.h"
#include "sandbox/apiserver/serving/status.h"
#include "sandbox/schema/object_types.h"
#include "sandbox/schema/validate.h"

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

const schema::ObjectType* type_of_builtin(const Kind& kind) {
  // Of the kinds of one name in two groups (Event) there is none.
  return kind.is_custom() ? nullptr : schema::builtin_types().of_kind(kind.version, kind.kind);
}

std::vector<std::string> drop_unknown_fields(const Kind& kind, json& object) {
  if (kind.is_custom()) return schema::prune(object, *kind.custom->schema);
  const schema::ObjectType* type = type_of_builtin(kind);
  return type == nullptr ? std::vector<std::string>()
                         : schema::builtin_types().prune(object, *type);
}

void tell_unknown_fields(Call& call, json& object) {
  std::vector<std::string> told;
  for (const std::string& field : drop_unknown_fields(*call.kind, object)) {
    told.push_back(cat("unknown field \"", field, "\""));
  }
  if (told.empty() || call.field_validation == FieldValidation::Ignore) return;
  if (call.field_validation == FieldValidation::Strict) {
    // The decoder of built-in kinds says what it was about to decode.
    const Kind& kind = *call.kind;
    const std::string about = kind.is_custom() ? ""
                                               : cat(kind.kind, " in version \"", kind.version,
                                                     "\" cannot be handled as a ", kind.kind, ": ");
    throw StatusError(bad_request(cat(about, "strict decoding error: ", base::join(told, ", "))));
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
