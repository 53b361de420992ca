// The JSON value of this module. Sources that look inside include <nlohmann/json.hpp> themselves.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace cdom::sandbox {

using nlohmann::json;

}  // namespace cdom::sandbox
