// The variable `device` of DRA selectors (KEP-4381): driver, attributes and capacity by domain.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "compute_domain/base/result.h"
#include "sandbox/cel/program.h"

namespace cdom::sandbox::cel {

// `device` is an entry of a ResourceSlice's spec.devices in the v1 form. Ids without a domain stand
// under the driver's; a domain that no id has reads as an empty map.
Value device_value(std::string_view driver, const nlohmann::json& device);

// A selector's `cel.expression`; evaluate it with {"device", device_value(…)}.
base::Result<Program> compile_device_selector(std::string_view expression);

}  // namespace cdom::sandbox::cel
