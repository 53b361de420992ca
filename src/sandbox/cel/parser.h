// The parser: from the text of a CEL expression to its tree, macros expanded, names resolved.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/base/result.h"
#include "sandbox/cel/expression.h"

namespace cdom::sandbox::cel {

struct Parsed {
  Node root;
  std::set<std::string, std::less<>> reads;  // the declared variables that the expression reads
};

base::Result<Parsed> parse(std::string_view expression, const std::vector<std::string>& variables);

}  // namespace cdom::sandbox::cel
