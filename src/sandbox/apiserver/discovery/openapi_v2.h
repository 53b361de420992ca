// The OpenAPI v2 document, which kubectl up to 1.26 asks for and wants as protobuf.
//
// It names custom resources only: what it names kubectl validates by itself, and of built-in kinds
// it would take the merge keys from there, which compact types do not have. With them absent it
// applies and validates those as if it had no document.
#pragma once

#include <string>

#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

// `schemas` by name, in the shape of OpenAPI v3's components.schemas, without references.
std::string openapi_v2_document(const json& schemas);

}  // namespace cdom::sandbox::server
