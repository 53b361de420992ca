#include "sandbox/apiserver/rules/admission_match.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"

namespace cdom::sandbox {

namespace {

using nlohmann::json;

bool lists(const std::vector<std::string>& texts, std::string_view text) {
  return std::ranges::any_of(
      texts, [&](const std::string& listed) { return listed == "*" || listed == text; });
}

// "pods", "pods/status", "pods/*", "*/status", "*" (no subresources) and "*/*".
bool lists_resource(const std::vector<std::string>& resources, const AdmissionRequest& request) {
  return std::ranges::any_of(resources, [&](const std::string& listed) {
    const auto slash = listed.find('/');
    const std::string resource = listed.substr(0, slash);
    const std::string subresource = slash == std::string::npos ? "" : listed.substr(slash + 1);
    if (resource != "*" && resource != request.resource) return false;
    return subresource == request.subresource || subresource == "*";
  });
}

bool has_labels(const LabelSelector& selector, const json* object) {
  if (object == nullptr || !object->is_object()) return false;
  return selector.matches(object->value("/metadata/labels"_json_pointer, json()));
}

}  // namespace

std::vector<AdmissionMatch::Rule> AdmissionMatch::rules_in(const json& constraints,
                                                           const char* field) {
  std::vector<Rule> rules;
  for (const json& rule : constraints.value(field, json::array())) {
    const auto texts = [&](const char* name) {
      return rule.value(name, std::vector<std::string>{});
    };
    rules.push_back({texts("operations"), texts("apiGroups"), texts("apiVersions"),
                     texts("resources"), texts("resourceNames"), rule.value("scope", "*")});
  }
  return rules;
}

base::Result<AdmissionMatch> AdmissionMatch::parse(const json& constraints) {
  AdmissionMatch match;
  if (!constraints.is_object()) return match;
  match.rules_ = rules_in(constraints, "resourceRules");
  match.excluded_ = rules_in(constraints, "excludeResourceRules");
  auto namespaces = LabelSelector::from_object(constraints.value("namespaceSelector", json()));
  if (!namespaces) return namespaces.error();
  auto objects = LabelSelector::from_object(constraints.value("objectSelector", json()));
  if (!objects) return objects.error();
  match.namespace_selector_ = *std::move(namespaces);
  match.object_selector_ = *std::move(objects);
  return match;
}

bool AdmissionMatch::covers(const Rule& rule, const AdmissionRequest& request) {
  const bool is_namespaced = !request.namespace_.empty();
  return lists(rule.operations, request.operation) && lists(rule.groups, request.group) &&
         lists(rule.versions, request.version) && lists_resource(rule.resources, request) &&
         (rule.names.empty() || lists(rule.names, request.name)) &&
         (rule.scope == "*" || (rule.scope == "Namespaced") == is_namespaced);
}

bool AdmissionMatch::matches(const AdmissionRequest& request) const {
  const auto covers_request = [&](const Rule& rule) { return covers(rule, request); };
  // Without rules (a binding's matchResources) every request is meant.
  if (!rules_.empty() && std::ranges::none_of(rules_, covers_request)) return false;
  if (std::ranges::any_of(excluded_, covers_request)) return false;
  const bool is_in_namespace = request.namespace_.empty() ||
                               namespace_selector_.matches_everything() ||
                               has_labels(namespace_selector_, request.namespace_object);
  const bool is_object = object_selector_.matches_everything() ||
                         has_labels(object_selector_, request.object) ||
                         has_labels(object_selector_, request.old_object);
  return is_in_namespace && is_object;
}

}  // namespace cdom::sandbox
