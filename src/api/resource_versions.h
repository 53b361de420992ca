// The versions of resource.k8s.io: v1beta1 has a request's fields beside its name, and a device's
// below "basic"; v1beta2 and v1 agree. (KEP-4381 and its graduation to v1.)
//
// What has another form than its version says is left as it is, for the table to judge.
#pragma once

#include <string_view>

#include "api/json/json_text.h"
#include "compute_domain/api/kind.h"

namespace cdom::api {

// Adds to what is wanted of an object in v1 where its older versions have the same.
void want_older_shapes(const Kind& kind, Wanted& object);

// Whether the version has other shapes than v1.
bool has_older_shapes(const Kind& kind, std::string_view version);
void to_v1_shapes(const Kind& kind, std::string_view version, Json& object);
void from_v1_shapes(const Kind& kind, std::string_view version, Json& object);

}  // namespace cdom::api
