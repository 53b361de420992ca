#include "sandbox/apiserver/rules/cause.h"

#include <algorithm>

#include "compute_domain/base/text.h"

namespace cdom::sandbox {

std::string invalid_message(std::string_view kind, std::string_view group, std::string_view name,
                            const std::vector<Cause>& causes) {
  std::vector<std::string> texts;
  for (const Cause& cause : causes) {
    std::string text =
        cause.field.empty() ? cause.message : base::cat(cause.field, ": ", cause.message);
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  std::string all = base::join(texts, ", ");
  if (texts.size() > 1) all = base::cat("[", all, "]");
  const std::string qualified = group.empty() ? std::string(kind) : base::cat(kind, ".", group);
  return base::cat(qualified, " \"", name, "\" is invalid: ", all);
}

}  // namespace cdom::sandbox
