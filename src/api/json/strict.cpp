#include "strict.h"

#include <vector>

#include "compute_domain/base/text.h"
#include "json_scanner.h"

namespace cdom::api {

std::string strict_problem(std::string_view text, const std::set<std::string_view>& fields) {
  const auto members = members_in(text);
  if (!members) return "";
  std::vector<std::string> problems;
  std::set<std::string> seen;
  for (const auto& [name, value] : *members) {
    if (!fields.contains(name)) {
      if (seen.insert(name).second) problems.push_back(base::cat("unknown field \"", name, '"'));
    } else if (!seen.insert(name).second) {
      problems.push_back(base::cat("duplicate field \"", name, '"'));
    }
  }
  return problems.empty() ? "" : base::cat("strict decoding error: ", base::join(problems, ", "));
}

}  // namespace cdom::api
