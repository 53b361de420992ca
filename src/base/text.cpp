#include "compute_domain/base/text.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdio>

#include "compute_domain/base/utf8.h"

namespace cdom::base {

namespace {

bool is_lower_alnum(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_alnum(char c) { return is_lower_alnum(c) || (c >= 'A' && c <= 'Z'); }

}  // namespace

std::string join(const std::vector<std::string>& pieces, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0) out += separator;
    out += pieces[i];
  }
  return out;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> fields;
  std::size_t start = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at == text.size() || text[at] == separator) {
      fields.emplace_back(text.substr(start, at - start));
      start = at + 1;
    }
  }
  return fields;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

std::string list_names(const std::vector<std::string>& names, std::size_t most) {
  if (names.size() <= most) return join(names, ", ");
  const std::vector<std::string> first(names.begin(),
                                       names.begin() + static_cast<std::ptrdiff_t>(most));
  return cat(join(first, ", "), " and ", names.size() - most, " more");
}

std::string shortened(std::string text, std::size_t most, std::string_view left_out) {
  if (text.size() <= most) return text;
  std::size_t end = most - std::min(most, left_out.size());
  while (end > 0 && continues_character(text[end])) --end;
  // Another string: this one would keep the memory of the whole text.
  return cat(std::string_view(text).substr(0, end), left_out);
}

std::uint64_t fnv1a64(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

std::string hex64(std::uint64_t value) {
  char out[17];
  std::snprintf(out, sizeof out, "%016llx", static_cast<unsigned long long>(value));
  return out;
}

bool is_dns_label(std::string_view name) {
  return !name.empty() && name.size() <= 63 && is_lower_alnum(name.front()) &&
         is_lower_alnum(name.back()) &&
         std::ranges::all_of(name, [](char c) { return is_lower_alnum(c) || c == '-'; });
}

bool is_dns_subdomain(std::string_view name) {
  if (name.empty() || name.size() > 253) return false;
  // Unlike is_dns_label, a label inside a subdomain has no bound of its own.
  return std::ranges::all_of(split(name, '.'), [](const std::string& label) {
    return !label.empty() && is_lower_alnum(label.front()) && is_lower_alnum(label.back()) &&
           std::ranges::all_of(label, [](char c) { return is_lower_alnum(c) || c == '-'; });
  });
}

bool is_label_value(std::string_view value) {
  if (value.empty()) return true;
  return value.size() <= 63 && is_alnum(value.front()) && is_alnum(value.back()) &&
         std::ranges::all_of(
             value, [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_ip_address(std::string_view text) {
  const std::string whole(text);
  if (whole.size() != std::char_traits<char>::length(whole.c_str())) return false;
  in6_addr address{};
  return inet_pton(AF_INET, whole.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, whole.c_str(), &address) == 1;
}

}  // namespace cdom::base
