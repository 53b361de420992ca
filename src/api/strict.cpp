#include "strict.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "compute_domain/base/text.h"
#include "json_text.h"

namespace cdom::api {

namespace {

// The names of an object's own members, in their order in the text. The library's document has
// each once and sorted, so they are collected while it parses.
std::vector<std::string> top_level_names(const std::string& text) {
  std::vector<std::string> names;
  const auto collect = [&](int depth, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::key && depth == 1) names.push_back(parsed);
    return true;
  };
  // The caller has parsed the text already: it is valid.
  [[maybe_unused]] const Json again = Json::parse(text, collect, /*allow_exceptions=*/false);
  return names;
}

}  // namespace

std::string strict_problem(const std::string& text, const std::set<std::string_view>& fields) {
  std::vector<std::string> problems;
  std::set<std::string> seen;
  for (const std::string& name : top_level_names(text)) {
    if (!fields.contains(name)) {
      if (seen.insert(name).second) problems.push_back(base::cat("unknown field \"", name, '"'));
    } else if (!seen.insert(name).second) {
      problems.push_back(base::cat("duplicate field \"", name, '"'));
    }
  }
  return problems.empty() ? "" : base::cat("strict decoding error: ", base::join(problems, ", "));
}

}  // namespace cdom::api
