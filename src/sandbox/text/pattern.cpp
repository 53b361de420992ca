#include "sandbox/text/pattern.h"

#include <regex>

#include "compute_domain/base/text.h"

namespace cdom::sandbox {

struct Pattern::Compiled {
  std::string text;
  std::regex regex;
};

base::Result<Pattern> Pattern::compile(std::string_view text) {
  // RE2, which Kubernetes uses, spells some things that ECMAScript does not know; an ECMAScript
  // parser would silently read them as something else.
  for (const std::string_view foreign : {"(?", "\\A", "\\z", "\\Q", "\\p", "\\P", "\\C"}) {
    for (auto at = text.find(foreign); at != std::string_view::npos;
         at = text.find(foreign, at + 1)) {
      if (foreign == "(?" && text.substr(at).starts_with("(?:")) continue;
      return base::Error{base::ErrorKind::Invalid,
                         base::cat("pattern \"", text, "\": ", foreign, " is not supported")};
    }
  }
  try {
    // libstdc++'s __polynomial: breadth-first matching, so no recursion per character and no
    // exponential time; without it a long text can overflow the stack.
    constexpr auto kFlags =
        std::regex::ECMAScript | std::regex::nosubs | std::regex_constants::__polynomial;
    return Pattern(std::make_shared<const Compiled>(
        Compiled{std::string(text), std::regex(text.begin(), text.end(), kFlags)}));
  } catch (const std::regex_error& error) {
    return base::Error{base::ErrorKind::Invalid,
                       base::cat("pattern \"", text, "\": ", error.what())};
  }
}

bool Pattern::is_found_in(std::string_view text) const {
  return std::regex_search(text.begin(), text.end(), compiled_->regex);
}

const std::string& Pattern::text() const { return compiled_->text; }

}  // namespace cdom::sandbox
