#include "sandbox/schema/formats.h"

#include <arpa/inet.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/text.h"
#include "sandbox/text/pattern.h"

namespace cdom::sandbox::schema {

namespace {

using nlohmann::json;

bool is_address(const std::string& text, int family) {
  unsigned char out[sizeof(in6_addr)];
  return inet_pton(family, text.c_str(), out) == 1;
}

bool is_uuid(const std::string& text) {
  static const Pattern kPattern =
      Pattern::compile("^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$").value();
  return kPattern.is_found_in(text);
}

// RFC 3339 with "Z" or an offset, which only changes what the time means. As kube-openapi's
// IsDateTime has it: no leap second, and anything in front of a fraction.
bool is_date_time(const std::string& text) {
  static const Pattern kPattern = Pattern::compile(
                                      "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}"
                                      "(.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$")
                                      .value();
  if (!kPattern.is_found_in(text) || text.substr(17, 2) > "59") return false;
  return base::parse_rfc3339(text.substr(0, 10) + "T" + text.substr(11, 8) + "Z").has_value();
}

constexpr std::string_view kUnchecked[] = {"int64", "float", "double", "password", "byte"};

}  // namespace

bool is_known_format(std::string_view format) {
  constexpr std::string_view kChecked[] = {"int32", "date-time", "ipv4", "ipv6", "uuid"};
  return std::ranges::find(kChecked, format) != std::end(kChecked) ||
         std::ranges::find(kUnchecked, format) != std::end(kUnchecked);
}

bool has_format(const json& value, std::string_view format) {
  if (format == "int32" && value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    return number >= std::numeric_limits<std::int32_t>::min() &&
           number <= std::numeric_limits<std::int32_t>::max();
  }
  if (!value.is_string()) return true;
  const auto& text = value.get_ref<const std::string&>();
  if (format == "date-time") return is_date_time(text);
  if (format == "ipv4") return is_address(text, AF_INET);
  if (format == "ipv6") return is_address(text, AF_INET6);
  if (format == "uuid") return is_uuid(text);
  return true;
}

}  // namespace cdom::sandbox::schema
