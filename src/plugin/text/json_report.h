// json_report: a report as JSON for programs: indented, with a line's end. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace cdom::plugin {

// Bytes that are not UTF-8 become U+FFFD.
std::string json_report(const nlohmann::ordered_json& json);

}  // namespace cdom::plugin
