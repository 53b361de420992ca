// Which requests an admission policy is about (matchConstraints, matchResources).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "compute_domain/base/result.h"
#include "sandbox/apiserver/rules/admission.h"
#include "sandbox/text/selector.h"

namespace cdom::sandbox {

class AdmissionMatch {
 public:
  // `constraints` is {resourceRules, excludeResourceRules, namespaceSelector, objectSelector};
  // matchPolicy is not evaluated: a rule means the versions that it names.
  static base::Result<AdmissionMatch> parse(const nlohmann::json& constraints);

  [[nodiscard]] bool matches(const AdmissionRequest& request) const;

 private:
  struct Rule {
    std::vector<std::string> operations, groups, versions, resources, names;
    std::string scope;  // "*", Namespaced or Cluster
  };

  static std::vector<Rule> rules_in(const nlohmann::json& constraints, const char* field);
  static bool covers(const Rule& rule, const AdmissionRequest& request);

  std::vector<Rule> rules_, excluded_;
  LabelSelector namespace_selector_, object_selector_;
};

}  // namespace cdom::sandbox
