// Admission: what is checked after an object is valid and before it is stored: the life of its
// namespace, then the ValidatingAdmissionPolicies.
#pragma once

#include <string_view>

#include "sandbox/apiserver/serving/call.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

// `operation` is CREATE, UPDATE or DELETE; `object` is null for DELETE, `old_object` for CREATE;
// both in the stored version. Throws StatusError when the request is denied.
void admit(const Call& call, std::string_view operation, const json* object,
           const json* old_object);

}  // namespace cdom::sandbox::server
