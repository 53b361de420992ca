#include "sandbox/apiserver/printing/table_cell.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"

namespace cdom::sandbox {

namespace {

using nlohmann::json;

// "2m30s", or "2m" when the smaller part is none.
std::string two_units(std::int64_t large, std::string_view large_unit, std::int64_t small,
                      std::string_view small_unit) {
  if (small == 0) return base::cat(large, large_unit);
  return base::cat(large, large_unit, small, small_unit);
}

std::string as_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

// The steps are those of k8s.io/apimachinery's HumanDuration.
std::string human_duration(base::Duration age) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(age).count();
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return base::cat(seconds, "s");
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return two_units(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return base::cat(minutes, "m");
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return two_units(hours, "h", minutes % 60, "m");
  if (hours < 48) return base::cat(hours, "h");
  const std::int64_t days = hours / 24;
  if (days < 8) return two_units(days, "d", hours % 24, "h");
  if (days < 2 * std::int64_t{365}) return base::cat(days, "d");
  const std::int64_t years = days / 365;
  return years < 8 ? two_units(years, "y", days % 365, "d") : base::cat(years, "y");
}

std::string age_of(const json& timestamp, base::Time now) {
  if (timestamp.is_null()) return "<unknown>";
  if (!timestamp.is_string()) return "<invalid>";
  const auto time = base::parse_rfc3339(timestamp.get_ref<const std::string&>());
  return time ? human_duration(now - *time) : "<invalid>";
}

json cell_of(const json& object, const JsonPath& path, std::string_view type, base::Time now) {
  const auto found = path.find(object);
  if (found.empty() || found.front()->is_null()) return nullptr;
  const json& value = *found.front();
  if (type == "date") return age_of(value, now);
  if (type == "string") return as_text(value);
  const bool fits = type == "integer"  ? value.is_number_integer()
                    : type == "number" ? value.is_number()
                                       : type == "boolean" && value.is_boolean();
  return fits ? value : json();
}

}  // namespace cdom::sandbox
