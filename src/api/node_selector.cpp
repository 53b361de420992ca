#include "api/node_selector.h"

#include <string_view>

#include "compute_domain/api/names.h"

namespace cdom::api {

namespace {

// The value that "key In [value]" names, or "".
std::string one_value(const std::vector<NodeSelectorRequirement>& of, std::string_view key) {
  const bool is_one =
      of.size() == 1 && of[0].key == key && of[0].op == "In" && of[0].values.size() == 1;
  return is_one ? of[0].values[0] : std::string{};
}

}  // namespace

std::string one_node(const NodeSelector& selector) {
  if (selector.terms.size() != 1 || !selector.terms[0].labels.empty()) return {};
  return one_value(selector.terms[0].fields, kNodeNameField);
}

std::string one_clique(const NodeSelector& selector) {
  if (selector.terms.size() != 1 || !selector.terms[0].fields.empty()) return {};
  return one_value(selector.terms[0].labels, kNodeCliqueLabel);
}

}  // namespace cdom::api
