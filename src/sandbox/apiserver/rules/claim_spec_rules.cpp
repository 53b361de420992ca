#include "sandbox/apiserver/rules/claim_spec_rules.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/rest/object_path.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

constexpr std::size_t kMostRequests = 32;
constexpr std::size_t kMostParameterBytes = 10u << 10;

Cause too_many(std::string field, std::size_t count, std::size_t most) {
  return {.reason = "FieldValueTooMany",
          .message = cat("Too many: ", count, ": must have at most ", most, " items"),
          .field = std::move(field)};
}

// Checks what a request and its alternatives have in common.
void check_exact(const json& exact, const std::string& field, std::vector<Cause>& causes) {
  const std::string& device_class = text_at(exact, {"deviceClassName"});
  if (device_class.empty()) {
    causes.push_back(required_field(cat(field, ".deviceClassName")));
  } else if (!base::is_dns_subdomain(device_class)) {
    causes.push_back(invalid_value(cat(field, ".deviceClassName"), in_quotes(device_class),
                                   "must be a lowercase RFC 1123 subdomain"));
  }
  const std::string& mode = text_at(exact, {"allocationMode"});
  const json& count = at_path(exact, {"count"});
  if (mode == "All") {
    if (!count.is_null() && count != 0) {
      causes.push_back(invalid_value(cat(field, ".count"), count.dump(),
                                     "must not be specified when allocationMode is 'All'"));
    }
  } else if (mode == "ExactCount") {
    if (!count.is_number_integer() || count.get<std::int64_t>() <= 0) {
      causes.push_back(
          invalid_value(cat(field, ".count"), count.dump(), "must be greater than zero"));
    }
  } else {
    causes.push_back({.reason = "FieldValueNotSupported",
                      .message = cat("Unsupported value: ", in_quotes(mode),
                                     ": supported values: \"All\", \"ExactCount\""),
                      .field = cat(field, ".allocationMode")});
  }
}

bool allows_admin_access(const Call& call) {
  const Object found = call.state.storage.get("namespaces", call.info.namespace_);
  return found && at_path(found->value(),
                          {"metadata", "labels", "resource.kubernetes.io/admin-access"}) == "true";
}

void check_request(const Call& call, const json& request, const std::string& field,
                   std::vector<Cause>& causes) {
  if (!base::is_dns_label(text_at(request, {"name"}))) {
    causes.push_back(invalid_value(cat(field, ".name"), in_quotes(text_at(request, {"name"})),
                                   "must be a lowercase RFC 1123 label"));
  }
  const json& exactly = at_path(request, {"exactly"});
  const json& alternatives = at_path(request, {"firstAvailable"});
  const bool has_alternatives = alternatives.is_array() && !alternatives.empty();
  if (exactly.is_object() == has_alternatives) {
    causes.push_back(exactly.is_object()
                         ? invalid_value(field, request.dump(),
                                         "exactly one of `exactly` or `firstAvailable` is "
                                         "required, but multiple fields are set")
                         : required_field(field,
                                          "exactly one of `exactly` or `firstAvailable` is "
                                          "required"));
    return;
  }
  if (exactly.is_object()) {
    check_exact(exactly, cat(field, ".exactly"), causes);
    if (at_path(exactly, {"adminAccess"}) == true && !allows_admin_access(call)) {
      causes.push_back(forbidden_field(
          field,
          "admin access to devices requires the "
          "`resource.kubernetes.io/admin-access: true` label on the containing namespace"));
    }
    return;
  }
  if (alternatives.size() > 8) {
    causes.push_back(too_many(cat(field, ".firstAvailable"), alternatives.size(), 8));
  }
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    check_exact(alternatives[i], cat(field, ".firstAvailable[", i, "]"), causes);
  }
}

void check_references(const json& entry, const std::string& field,
                      const std::set<std::string>& names, std::vector<Cause>& causes) {
  const json& references = at_path(entry, {"requests"});
  if (!references.is_array()) return;
  for (std::size_t i = 0; i < references.size(); ++i) {
    if (references[i].is_string() && names.contains(references[i].get<std::string>())) continue;
    causes.push_back(invalid_value(cat(field, ".requests[", i, "]"), references[i].dump(),
                                   "must be the name of a request in the claim or the name of a "
                                   "request and a subrequest separated by '/'"));
  }
}

void check_config(const json& config, const std::string& field, const std::set<std::string>& names,
                  std::vector<Cause>& causes) {
  check_references(config, field, names, causes);
  const json& opaque = at_path(config, {"opaque"});
  if (!opaque.is_object()) {
    causes.push_back(required_field(field, "exactly one field must be specified"));
    return;
  }
  const std::string& driver = text_at(opaque, {"driver"});
  if (driver.size() > 63 || !base::is_dns_subdomain(base::to_lower(driver))) {
    causes.push_back(invalid_value(cat(field, ".opaque.driver"), in_quotes(driver),
                                   "must be a DNS subdomain of at most 63 characters"));
  }
  const json& parameters = at_path(opaque, {"parameters"});
  if (parameters.is_null()) {
    causes.push_back(required_field(cat(field, ".opaque.parameters")));
  } else if (!parameters.is_object()) {
    causes.push_back(invalid_value(cat(field, ".opaque.parameters"), "<value omitted>",
                                   "must be a valid JSON object"));
  } else if (parameters.dump().size() > kMostParameterBytes) {
    causes.push_back(
        {.reason = "FieldValueTooLong",
         .message = cat("Too long: may not be more than ", kMostParameterBytes, " bytes"),
         .field = cat(field, ".opaque.parameters")});
  }
}

const json& list_at(const json& object, const char* field) {
  static const json kEmpty = json::array();
  const json& list = at_path(object, {field});
  return list.is_array() ? list : kEmpty;
}

}  // namespace

std::set<std::string> request_names(const json& devices) {
  std::set<std::string> names;
  for (const json& request : list_at(devices, "requests")) {
    const std::string& name = text_at(request, {"name"});
    names.insert(name);
    for (const json& alternative : list_at(request, "firstAvailable")) {
      names.insert(cat(name, "/", text_at(alternative, {"name"})));
    }
  }
  return names;
}

std::vector<Cause> claim_spec_causes(const Call& call, const json& devices,
                                     const std::string& field) {
  std::vector<Cause> causes;
  const json& requests = list_at(devices, "requests");
  if (requests.size() > kMostRequests) {
    causes.push_back(too_many(cat(field, ".requests"), requests.size(), kMostRequests));
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::string here = cat(field, ".requests[", i, "]");
    check_request(call, requests[i], here, causes);
    if (!seen.insert(text_at(requests[i], {"name"})).second) {
      causes.push_back(
          {.reason = "FieldValueDuplicate",
           .message = cat("Duplicate value: ", in_quotes(text_at(requests[i], {"name"}))),
           .field = here});
    }
  }
  const std::set<std::string> names = request_names(devices);
  const json& constraints = list_at(devices, "constraints");
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    check_references(constraints[i], cat(field, ".constraints[", i, "]"), names, causes);
  }
  const json& configs = list_at(devices, "config");
  for (std::size_t i = 0; i < configs.size(); ++i) {
    check_config(configs[i], cat(field, ".config[", i, "]"), names, causes);
  }
  return causes;
}

}  // namespace cdom::sandbox::server
