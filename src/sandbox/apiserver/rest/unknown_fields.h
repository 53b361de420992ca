// What happens to fields that a kind does not declare: they go, and the client is told as
// fieldValidation says.
#pragma once

#include "sandbox/apiserver/serving/call.h"
#include "sandbox/schema/object_types.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

// The fields of a built-in kind; null: they are not known here, and none is refused.
const schema::ObjectType* type_of_builtin(const Kind& kind);

// Gives the paths of what it drops.
std::vector<std::string> drop_unknown_fields(const Kind& kind, json& object);

// Drops them from `object`. Strict: throws StatusError 400 naming the fields; Warn: warns of each.
void tell_unknown_fields(Call& call, json& object);

// Reads fieldValidation; throws StatusError 422 for an unknown value.
FieldValidation wanted_field_validation(const RequestInfo& info);

// Puts the warnings of the call into `Warning` headers (RFC 7234: `299 - "text"`).
void add_warnings(const Call& call, http::Response& response);

}  // namespace cdom::sandbox::server
