// Small text functions that several modules need. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cdom::base {

namespace detail {
inline void append(std::string& out, std::string_view piece) { out += piece; }
inline void append(std::string& out, char piece) { out += piece; }
template <class Number>
requires(std::is_arithmetic_v<Number> &&
         !std::is_same_v<Number, char>) void append(std::string& out, Number piece) {
  if constexpr (std::is_same_v<Number, bool>) {
    out += piece ? "true" : "false";
  } else {
    out += std::to_string(piece);
  }
}
}  // namespace detail

// The pieces (text, characters, numbers, bools) one after the other.
template <class... Piece>
std::string cat(const Piece&... piece) {
  std::string out;
  (detail::append(out, piece), ...);
  return out;
}

std::string join(const std::vector<std::string>& pieces, std::string_view separator);
// All fields between separators; an empty text has one empty field.
std::vector<std::string> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string to_lower(std::string_view text);

// "n03, n07, n09 and 4 more": the first `most` names, then a count.
std::string list_names(const std::vector<std::string>& names, std::size_t most = 5);

// At most `most` bytes of the text, whole UTF-8 characters; `left_out` stands for the rest.
std::string shortened(std::string text, std::size_t most, std::string_view left_out = "…");

// FNV-1a, 64 bit. Stable across versions and machines: names of objects are made from it.
std::uint64_t fnv1a64(std::string_view text);
// Sixteen lower-case hex digits.
std::string hex64(std::uint64_t value);

// RFC 1123 names as Kubernetes checks them. A subdomain: up to 253 characters of labels joined by
// dots; a label: up to 63 of [a-z0-9-], alphanumeric at both ends.
bool is_dns_subdomain(std::string_view name);
bool is_dns_label(std::string_view name);
// A label value: up to 63 of [A-Za-z0-9-_.], alphanumeric at both ends; may be empty.
bool is_label_value(std::string_view value);

// An IPv4 or IPv6 address and nothing beside it: no zone, no port, no white space.
bool is_ip_address(std::string_view text);

}  // namespace cdom::base
