// The body of a request as an object: JSON, YAML, or kubectl's protobuf for the few kinds that it
// sends that way.
#pragma once

#include <string>

#include "sandbox/apiserver/serving/call.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

// The media type of a request, without parameters; "" when it names none.
std::string content_type_of(const http::Request& request);

// The JSON value in the body, whatever it is; null for an empty body. Throws StatusError 400 for
// what does not parse, 415 for a media type that is not read.
json read_body(const http::Request& request);

// An object of the call's kind, in the version of the path, with apiVersion, kind and (if it is
// namespaced) metadata.namespace filled in. Throws StatusError 400 when the body is something else.
json read_object(const Call& call);
// The checks of read_object, for an object that a patch made.
void check_identity(const Call& call, json& object);

}  // namespace cdom::sandbox::server
