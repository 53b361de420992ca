// Semver: a semantic version 2.0.0, ordered by its precedence rules (build metadata is ignored).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/base/result.h"

namespace cdom::sandbox::cel {

struct Semver {
  std::array<std::uint64_t, 3> numbers{};  // major, minor, patch
  std::vector<std::string> prerelease;

  // All three numbers are needed: "1.0" is refused, as the API server does.
  static base::Result<Semver> parse(std::string_view text);

  friend std::strong_ordering operator<=>(const Semver& left, const Semver& right);
  friend bool operator==(const Semver& left, const Semver& right) = default;
};

}  // namespace cdom::sandbox::cel
