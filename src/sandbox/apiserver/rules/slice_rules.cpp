#include "sandbox/apiserver/rules/slice_rules.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/rest/object_path.h"
#include "sandbox/apiserver/rules/node_selector_rules.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

constexpr std::string_view kPoolNameRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kNodeSelectionRule =
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";

void add_all(std::vector<Cause> more, std::vector<Cause>& causes) {
  causes.insert(causes.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
}

void check_pool_name(const std::string& name, std::vector<Cause>& causes) {
  if (name.empty()) {
    causes.push_back(required_field("spec.pool.name"));
    return;
  }
  if (name.size() > 253) {
    causes.push_back({.reason = "FieldValueTooLong",
                      .message = "Too long: may not be more than 253 bytes",
                      .field = "spec.pool.name"});
  }
  for (const std::string& part : base::split(name, '/')) {
    if (base::is_dns_subdomain(part)) continue;
    causes.push_back(invalid_value("spec.pool.name", in_quotes(part), kPoolNameRule));
  }
}

void check_pool(const json& spec, std::vector<Cause>& causes) {
  check_pool_name(text_at(spec, {"pool", "name"}), causes);
  const json& count = at_path(spec, {"pool", "resourceSliceCount"});
  if (!count.is_number_integer() || count.get<std::int64_t>() <= 0) {
    causes.push_back(
        invalid_value("spec.pool.resourceSliceCount", count.dump(), "must be greater than zero"));
  }
  const json& generation = at_path(spec, {"pool", "generation"});
  if (generation.is_number_integer() && generation.get<std::int64_t>() < 0) {
    causes.push_back(invalid_value("spec.pool.generation", generation.dump(),
                                   "must be greater than or equal to zero"));
  }
}

void check_node_selector(const json& selector, std::vector<Cause>& causes) {
  add_all(node_selector_causes(selector, "spec.nodeSelector"), causes);
  const json& terms = at_path(selector, {"nodeSelectorTerms"});
  if (terms.size() == 1) return;
  // So that the selectors of several slices can become one.
  causes.push_back(invalid_value("spec.nodeSelector.nodeSelectorTerms", terms.dump(),
                                 "must have exactly one node selector term"));
}

void check_node_selection(const json& spec, std::vector<Cause>& causes) {
  std::vector<std::string> chosen;
  const json& name = at_path(spec, {"nodeName"});
  if (name.is_string() && name.get_ref<const std::string&>().empty()) {
    causes.push_back(invalid_value("spec.nodeName", "\"\"",
                                   "must be either unset or set to a non-empty string"));
  } else if (!name.is_null()) {
    chosen.emplace_back("`nodeName`");
  }
  if (const json& selector = at_path(spec, {"nodeSelector"}); !selector.is_null()) {
    chosen.emplace_back("`nodeSelector`");
    check_node_selector(selector, causes);
  }
  for (const char* field : {"allNodes", "perDeviceNodeSelection"}) {
    const json& is_so = at_path(spec, {field});
    if (is_so == false) {
      causes.push_back(
          invalid_value(cat("spec.", field), "false", "must be either unset or set to true"));
    } else if (!is_so.is_null()) {
      chosen.push_back(cat("`", field, "`"));
    }
  }
  if (chosen.empty()) causes.push_back(required_field("spec", kNodeSelectionRule));
  if (chosen.size() > 1) {
    causes.push_back(invalid_value("spec", in_quotes(cat("{", base::join(chosen, ", "), "}")),
                                   cat(kNodeSelectionRule, ", but multiple fields are set")));
  }
}

bool is_attribute_value(const json& value) {
  if (!value.is_object() || value.size() != 1) return false;
  const std::string& type = value.begin().key();
  const json& content = value.begin().value();
  if (type == "int") return content.is_number_integer();
  if (type == "bool") return content.is_boolean();
  return (type == "string" || type == "version") && content.is_string();
}

void check_device(const json& device, const std::string& field, std::vector<Cause>& causes) {
  const std::string& name = text_at(device, {"name"});
  if (!base::is_dns_label(name)) {
    causes.push_back(
        invalid_value(cat(field, ".name"), in_quotes(name), "must be a lowercase RFC 1123 label"));
  }
  const json& attributes = at_path(device, {"attributes"});
  const json& capacity = at_path(device, {"capacity"});
  const std::size_t entries = attributes.size() + capacity.size();
  if (entries > 32) {
    causes.push_back({.reason = "FieldValueInvalid",
                      .message = cat("Invalid value: ", entries,
                                     ": the total number of attributes and capacities must not "
                                     "exceed 32"),
                      .field = field});
  }
  if (!attributes.is_object()) return;
  for (const auto& [key, value] : attributes.items()) {
    const std::string here = cat(field, ".attributes[", key, "]");
    if (!is_attribute_value(value)) {
      causes.push_back(invalid_value(here, value.dump(), "exactly one value must be specified"));
    } else if (value.begin()->is_string() &&
               value.begin()->get_ref<const std::string&>().size() > 64) {
      causes.push_back({.reason = "FieldValueTooLong",
                        .message = "Too long: may not be more than 64 bytes",
                        .field = cat(here, ".", value.begin().key())});
    }
  }
}

bool has_costly_features(const json& device) {
  return !at_path(device, {"taints"}).empty() || !at_path(device, {"consumesCounters"}).empty();
}

void check_devices(const json& spec, std::vector<Cause>& causes) {
  const json& devices = at_path(spec, {"devices"});
  if (!devices.is_array()) return;
  const std::size_t most = std::ranges::any_of(devices, has_costly_features) ? 64 : 128;
  if (devices.size() > most) {
    causes.push_back(
        {.reason = "FieldValueTooMany",
         .message = cat("Too many: ", devices.size(), ": must have at most ", most, " items"),
         .field = "spec.devices"});
    return;
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::string field = cat("spec.devices[", i, "]");
    check_device(devices[i], field, causes);
    if (!names.insert(text_at(devices[i], {"name"})).second) {
      causes.push_back(
          {.reason = "FieldValueDuplicate",
           .message = cat("Duplicate value: ", in_quotes(text_at(devices[i], {"name"}))),
           .field = field});
    }
  }
}

}  // namespace

std::vector<Cause> slice_causes(const json& slice, const json* old_slice) {
  std::vector<Cause> causes;
  const json& spec = at_path(slice, {"spec"});
  const std::string& driver = text_at(spec, {"driver"});
  if (driver.empty()) {
    causes.push_back(required_field("spec.driver"));
  } else if (driver.size() > 63 || !base::is_dns_subdomain(base::to_lower(driver))) {
    causes.push_back(invalid_value("spec.driver", in_quotes(driver),
                                   "must be a DNS subdomain of at most 63 characters"));
  }
  check_pool(spec, causes);
  const auto keep = [&](std::string field, std::initializer_list<std::string_view> path) {
    if (at_path(slice, path) == at_path(*old_slice, path)) return;
    causes.push_back(
        invalid_value(std::move(field), at_path(slice, path).dump(), "field is immutable"));
  };
  if (old_slice != nullptr) {
    keep("spec.pool.name", {"spec", "pool", "name"});
    keep("spec.driver", {"spec", "driver"});
    keep("spec.nodeName", {"spec", "nodeName"});
  }
  check_node_selection(spec, causes);
  check_devices(spec, causes);
  return causes;
}

}  // namespace cdom::sandbox::server
