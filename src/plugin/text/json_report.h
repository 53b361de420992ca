// json_report: a report as JSON for programs: indented, with a line's end. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace cdom::plugin {

// The `format` of these reports. Goes up when a program that reads one would misread it: other
// members, and words that were not there before, it passes over.
constexpr int kReportFormat = 1;

// Bytes that are not UTF-8 become U+FFFD.
std::string json_report(const nlohmann::ordered_json& json);

}  // namespace cdom::plugin
