// OpenAPI v3: as much of it as kubectl needs to apply, create, replace, edit, diff and explain.
//
// A document per group version names each kind's collection and item paths and, for custom
// resources, their schema; built-in kinds have a description and the names of their top-level
// fields. Called with the state's mutex held.
#pragma once

#include <optional>
#include <string>

#include "compute_domain/http/message.h"
#include "sandbox/apiserver/kinds/kinds.h"

namespace cdom::sandbox::server {

// For /openapi/v3, /openapi/v3/<group version> and /openapi/v2; nullopt for other paths.
std::optional<http::Response> openapi(const Kinds& kinds, const std::string& path);

}  // namespace cdom::sandbox::server
