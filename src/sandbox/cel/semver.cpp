#include "sandbox/cel/semver.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "compute_domain/base/text.h"

namespace cdom::sandbox::cel {

namespace {

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_identifier(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-';
  });
}

// No leading zeros, as semver demands of every number.
std::optional<std::uint64_t> number(std::string_view text) {
  if (!is_number(text) || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Numbers by amount and below words; words by their bytes.
std::strong_ordering compare_identifiers(const std::string& left, const std::string& right) {
  const bool left_number = is_number(left), right_number = is_number(right);
  if (left_number != right_number) return right_number <=> left_number;
  if (left_number && left.size() != right.size()) return left.size() <=> right.size();
  return left <=> right;
}

}  // namespace

base::Result<Semver> Semver::parse(std::string_view text) {
  const base::Error none{base::ErrorKind::Invalid,
                         base::cat("\"", text, "\" is not a semantic version (major.minor.patch)")};
  Semver version;
  std::string_view rest = text;
  if (const auto plus = rest.find('+'); plus != std::string_view::npos) {
    for (const std::string& part : base::split(rest.substr(plus + 1), '.')) {
      if (!is_identifier(part)) return none;
    }
    rest = rest.substr(0, plus);
  }
  if (const auto dash = rest.find('-'); dash != std::string_view::npos) {
    version.prerelease = base::split(rest.substr(dash + 1), '.');
    for (const std::string& part : version.prerelease) {
      if (!is_identifier(part) || (is_number(part) && !number(part))) return none;
    }
    rest = rest.substr(0, dash);
  }
  const std::vector<std::string> numbers = base::split(rest, '.');
  if (numbers.size() != version.numbers.size()) return none;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto value = number(numbers[i]);
    if (!value) return none;
    version.numbers[i] = *value;
  }
  return version;
}

std::strong_ordering operator<=>(const Semver& left, const Semver& right) {
  if (left.numbers != right.numbers) return left.numbers <=> right.numbers;
  // A version with a prerelease comes before the one without.
  if (left.prerelease.empty() || right.prerelease.empty()) {
    return left.prerelease.empty() <=> right.prerelease.empty();
  }
  return std::lexicographical_compare_three_way(left.prerelease.begin(), left.prerelease.end(),
                                                right.prerelease.begin(), right.prerelease.end(),
                                                compare_identifiers);
}

}  // namespace cdom::sandbox::cel
