// Strict reading, as Kubernetes' own decoder does it for a driver's opaque configuration.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace cdom::api {

// "" or the message of sigs.k8s.io/json's strict decoder: every unknown and every duplicate member
// of the object `text`, in the order of the text. Names are compared with their case. Members of
// members are not looked at.
std::string strict_problem(std::string_view text, const std::set<std::string_view>& fields);

}  // namespace cdom::api
