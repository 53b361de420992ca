// Who writes, and whether a write changes anything.
#pragma once

#include <string>

#include "sandbox/json.h"
#include "sandbox/server/request_info.h"

namespace cdom::sandbox::server {

// The query's fieldManager, or the program's name in the User-Agent.
std::string field_manager_of(const http::Request& request, const RequestInfo& info);

// Whether there is nothing to store: the two are equal.
bool is_unchanged(const json& before, const json& after);

}  // namespace cdom::sandbox::server
