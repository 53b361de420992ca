// Table cells: the values of a printer column as the API server renders them for kubectl.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "compute_domain/base/clock.h"
#include "sandbox/text/jsonpath.h"

namespace cdom::sandbox {

// "5d", "3d4h", "5h12m", "2m30s", "47s", as kubectl's AGE column; "<invalid>" below -2 s.
std::string human_duration(base::Duration age);

// The age of an RFC 3339 timestamp; "<unknown>" when there is none, "<invalid>" when it is no time.
std::string age_of(const nlohmann::json& timestamp, base::Time now);

// The cell of a CRD's additionalPrinterColumns entry of `type` (string, integer, number, boolean,
// date); null when the object has no such value, which kubectl prints as nothing.
nlohmann::json cell_of(const nlohmann::json& object, const JsonPath& path, std::string_view type,
                       base::Time now);

}  // namespace cdom::sandbox
