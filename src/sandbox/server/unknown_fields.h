// What happens to fields that the schema of a custom resource does not declare: they go, and the
// client is told as fieldValidation says.
#pragma once

#include "sandbox/json.h"
#include "sandbox/server/call.h"

namespace cdom::sandbox::server {

// Prunes `object`. Strict: throws StatusError 400 naming the fields; Warn: warns of each.
void tell_unknown_fields(Call& call, json& object);

// Reads fieldValidation; throws StatusError 422 for an unknown value.
FieldValidation wanted_field_validation(const RequestInfo& info);

// Puts the warnings of the call into `Warning` headers (RFC 7234: `299 - "text"`).
void add_warnings(const Call& call, http::Response& response);

}  // namespace cdom::sandbox::server
