#include "sandbox/cluster/scheduler/node_selector.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sandbox/cluster/objects.h"
#include "sandbox/text/selector.h"

namespace cdom::sandbox {
namespace {

bool matches_term(const json& term, const json& node) {
  const json& expressions = at(term, "/matchExpressions");
  const json& fields = at(term, "/matchFields");
  if (expressions.empty() && fields.empty()) return false;
  if (!expressions.empty()) {
    const auto selector = LabelSelector::from_object({{"matchExpressions", expressions}});
    if (!selector || !selector->matches(at(node, "/metadata/labels"))) return false;
  }
  if (!fields.empty()) {
    const json as_labels{{"metadata.name", key_of(node).name}};
    const auto selector = LabelSelector::from_object({{"matchExpressions", fields}});
    if (!selector || !selector->matches(as_labels)) return false;
  }
  return true;
}

}  // namespace

bool matches_node_selector(const json& selector, const json& node) {
  if (selector.is_null()) return true;
  const json& terms = at(selector, "/nodeSelectorTerms");
  return std::any_of(terms.begin(), terms.end(),
                     [&](const json& term) { return matches_term(term, node); });
}

json selector_of_node(const std::string& name) {
  const json field{{"key", "metadata.name"}, {"operator", "In"}, {"values", json::array({name})}};
  const json term{{"matchFields", json::array({field})}};
  return {{"nodeSelectorTerms", json::array({term})}};
}

}  // namespace cdom::sandbox
