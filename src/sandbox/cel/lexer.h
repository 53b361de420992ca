// The words of a CEL expression.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/base/result.h"

namespace cdom::sandbox::cel {

struct Token {
  enum class Kind { End, Name, Int, Uint, Double, String, Sign };
  Kind kind = Kind::End;
  // The name, the sign, the number as written (without the u of a uint), the string unescaped.
  std::string text;
  std::size_t at = 0;  // offset in the expression
};

// Ends with a token of kind End. Refuses bytes literals and characters that CEL does not know.
base::Result<std::vector<Token>> tokens_of(std::string_view expression);

}  // namespace cdom::sandbox::cel
