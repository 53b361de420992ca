// Pattern: a regular expression as schemas (`pattern`) and CEL (`matches`) use them.
//
// Finds a match anywhere in the text unless the pattern is anchored. Takes time linear in the text,
// whatever the pattern, and refuses what would break that (back-references). Immutable.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compute_domain/base/result.h"

namespace cdom::sandbox {

class Pattern {
 public:
  static base::Result<Pattern> compile(std::string_view text);

  [[nodiscard]] bool is_found_in(std::string_view text) const;
  [[nodiscard]] const std::string& text() const;

 private:
  struct Compiled;
  explicit Pattern(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace cdom::sandbox
