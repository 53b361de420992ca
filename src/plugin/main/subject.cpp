#include "plugin/main/subject.h"

#include <algorithm>

#include "compute_domain/base/text.h"

namespace cdom::program {

namespace {

bool has_slash(const std::string& word) { return word.find('/') != std::string::npos; }

}  // namespace

base::Result<Subject> subject_of(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = arguments;
  if (words.size() == 1) words = base::split(words.front(), '/');
  if (words.size() != 2 || words.back().empty() || std::ranges::any_of(words, has_slash)) {
    return base::invalid("name what, and one: pod NAME, or cd NAME");
  }
  // With the group behind it, and perhaps a version before that.
  const std::string kind = words.front().substr(0, words.front().find('.'));
  if (kind == "pod" || kind == "pods" || kind == "po") {
    return Subject{Subject::Kind::Pod, words.back()};
  }
  if (kind == "cd" || kind == "computedomain" || kind == "computedomains") {
    return Subject{Subject::Kind::Domain, words.back()};
  }
  return base::invalid(base::cat("\"", words.front(), "\" is neither pod nor cd"));
}

base::Result<std::string> domain_of(const std::vector<std::string>& arguments) {
  const bool is_name = arguments.size() == 1 && !has_slash(arguments.front());
  if (is_name) return arguments.front();
  const auto subject = subject_of(arguments);
  if (!subject || subject->kind != Subject::Kind::Domain) {
    return base::invalid("name one ComputeDomain");
  }
  return subject->name;
}

}  // namespace cdom::program
