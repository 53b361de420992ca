#include "sandbox/server/slice_rules.h"

#include <nlohmann/json.hpp>
#include <set>

#include "compute_domain/base/text.h"
#include "sandbox/server/object_path.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

void check_pool(const json& spec, std::vector<Cause>& causes) {
  if (text_at(spec, {"pool", "name"}).empty()) {
    causes.push_back(required_field("spec.pool.name"));
  }
  const json& count = at_path(spec, {"pool", "resourceSliceCount"});
  if (!count.is_number_integer() || count.get<std::int64_t>() <= 0) {
    causes.push_back(
        invalid_value("spec.pool.resourceSliceCount", count.dump(), "must be greater than zero"));
  }
  const json& generation = at_path(spec, {"pool", "generation"});
  if (generation.is_number_integer() && generation.get<std::int64_t>() < 0) {
    causes.push_back(invalid_value("spec.pool.generation", generation.dump(),
                                   "must be greater than or equal to 0"));
  }
}

void check_node_selection(const json& spec, std::vector<Cause>& causes) {
  int chosen = 0;
  chosen += text_at(spec, {"nodeName"}).empty() ? 0 : 1;
  chosen += at_path(spec, {"nodeSelector"}).is_object() ? 1 : 0;
  chosen += at_path(spec, {"allNodes"}) == true ? 1 : 0;
  chosen += at_path(spec, {"perDeviceNodeSelection"}) == true ? 1 : 0;
  if (chosen == 1) return;
  constexpr std::string_view kRule =
      "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
  causes.push_back(chosen == 0 ? required_field("spec", kRule)
                               : invalid_value("spec", "{}", kRule));
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

void check_devices(const json& spec, std::vector<Cause>& causes) {
  const json& devices = at_path(spec, {"devices"});
  if (!devices.is_array()) return;
  if (devices.size() > 128) {
    causes.push_back({.reason = "FieldValueTooMany",
                      .message = cat("Too many: ", devices.size(), ": must have at most 128 items"),
                      .field = "spec.devices"});
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
  check_node_selection(spec, causes);
  check_devices(spec, causes);
  if (old_slice == nullptr) return causes;
  const auto keep = [&](std::string field, std::initializer_list<std::string_view> path) {
    if (at_path(slice, path) == at_path(*old_slice, path)) return;
    causes.push_back(
        invalid_value(std::move(field), at_path(slice, path).dump(), "field is immutable"));
  };
  keep("spec.driver", {"spec", "driver"});
  keep("spec.pool.name", {"spec", "pool", "name"});
  keep("spec.nodeName", {"spec", "nodeName"});
  return causes;
}

}  // namespace cdom::sandbox::server
