#include "sandbox/apiserver/rules/node_selector_rules.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/rest/object_path.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

constexpr std::string_view kLabelKeyRule =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kNodeLabelValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

bool is_node_label_key(std::string_view key) {
  const auto slash = key.find('/');
  if (slash != std::string_view::npos && !base::is_dns_subdomain(key.substr(0, slash)))
    return false;
  const auto name = slash == std::string_view::npos ? key : key.substr(slash + 1);
  return !name.empty() && base::is_label_value(name);
}

void check_operator(std::string_view name, std::size_t values, const std::string& field,
                    std::vector<Cause>& causes) {
  const std::string here = field + ".values";
  if (name == "In" || name == "NotIn") {
    if (values == 0) {
      causes.push_back(
          required_field(here, "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (name == "Exists" || name == "DoesNotExist") {
    if (values > 0) {
      causes.push_back(forbidden_field(
          here, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else if (name == "Gt" || name == "Lt") {
    if (values != 1) {
      causes.push_back(
          required_field(here, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
    }
  } else {
    causes.push_back(
        invalid_value(field + ".operator", in_quotes(name), "not a valid selector operator"));
  }
}

void check_expression(const json& expression, const std::string& field,
                      std::vector<Cause>& causes) {
  const json& values = at_path(expression, {"values"});
  check_operator(text_at(expression, {"operator"}), values.size(), field, causes);
  const std::string& key = text_at(expression, {"key"});
  if (!is_node_label_key(key)) {
    causes.push_back(invalid_value(field + ".key", in_quotes(key), kLabelKeyRule));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_string() && base::is_label_value(values[i].get_ref<const std::string&>())) {
      continue;
    }
    causes.push_back(
        invalid_value(cat(field, ".values[", i, "]"), values[i].dump(), kNodeLabelValueRule));
  }
}

// A node has one field to select it by: its name.
void check_field(const json& wanted, const std::string& field, std::vector<Cause>& causes) {
  const std::string& name = text_at(wanted, {"operator"});
  if (name != "In" && name != "NotIn") {
    causes.push_back(
        invalid_value(field + ".operator", in_quotes(name), "not a valid selector operator"));
  } else if (at_path(wanted, {"values"}).size() != 1) {
    causes.push_back(required_field(field + ".values",
                                    "must be only one value when `operator` is 'In' or 'NotIn' for "
                                    "node field selector"));
  }
  const std::string& key = text_at(wanted, {"key"});
  if (key != "metadata.name") {
    causes.push_back(
        invalid_value(field + ".key", in_quotes(key), "not a valid field selector key"));
  }
}

}  // namespace

std::vector<Cause> node_selector_causes(const json& selector, const std::string& field) {
  const std::string here = field + ".nodeSelectorTerms";
  const json& terms = at_path(selector, {"nodeSelectorTerms"});
  if (terms.empty()) return {required_field(here, "must have at least one node selector term")};
  std::vector<Cause> causes;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const json& expressions = at_path(terms[i], {"matchExpressions"});
    for (std::size_t j = 0; j < expressions.size(); ++j) {
      check_expression(expressions[j], cat(here, "[", i, "].matchExpressions[", j, "]"), causes);
    }
    const json& fields = at_path(terms[i], {"matchFields"});
    for (std::size_t j = 0; j < fields.size(); ++j) {
      check_field(fields[j], cat(here, "[", i, "].matchFields[", j, "]"), causes);
    }
  }
  return causes;
}

}  // namespace cdom::sandbox::server
