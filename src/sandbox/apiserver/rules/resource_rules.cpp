#include "sandbox/apiserver/rules/resource_rules.h"

#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "sandbox/apiserver/rest/object_path.h"
#include "sandbox/text/quantity.h"

namespace cdom::sandbox::server {

using base::cat;

namespace {

constexpr std::string_view kContainerLists[] = {"initContainers", "containers"};

// A label's key: a name, in front of it perhaps a domain and a slash.
bool is_qualified_name(std::string_view name) {
  const auto slash = name.find('/');
  if (slash != std::string_view::npos && !base::is_dns_subdomain(name.substr(0, slash))) {
    return false;
  }
  const auto last = slash == std::string_view::npos ? name : name.substr(slash + 1);
  return !last.empty() && base::is_label_value(last);
}

// Without a domain, or in kubernetes.io or a domain below it.
bool is_native_resource(std::string_view name) {
  return name.find('/') == std::string_view::npos ||
         name.find("kubernetes.io/") != std::string_view::npos;
}

bool is_standard_resource(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" ||
         name.rfind("hugepages-", 0) == 0;
}

std::string text_of_quantity(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void check_amounts(const json& amounts, const std::string& field, std::vector<Cause>& causes) {
  if (!amounts.is_object()) return;
  for (const auto& [name, value] : amounts.items()) {
    const std::string here = cat(field, "[", name, "]");
    const bool is_extended = is_extended_resource_name(name);
    if (!is_qualified_name(name)) {
      causes.push_back(invalid_value(here, in_quotes(name),
                                     "name part must consist of "
                                     "alphanumeric characters, '-', '_' or '.', and must start and "
                                     "end with an alphanumeric character"));
    } else if (name.find('/') == std::string::npos && !is_standard_resource(name)) {
      causes.push_back(
          invalid_value(here, in_quotes(name), "must be a standard resource for containers"));
    } else if (!is_extended && !is_native_resource(name)) {
      causes.push_back(
          invalid_value(here, in_quotes(name), "doesn't follow extended resource name standard"));
    }
    const auto amount = Quantity::parse(text_of_quantity(value));
    if (!amount) continue;
    if (amount->sign() < 0) {
      causes.push_back(invalid_value(here, in_quotes(text_of_quantity(value)),
                                     "must be greater than or equal to 0"));
    }
    if (is_extended && !amount->is_integer()) {
      causes.push_back(
          invalid_value(here, in_quotes(text_of_quantity(value)), "must be an integer"));
    }
  }
}

// A request is at most its limit; where nobody can lend what he does not use, it is the limit.
void compare_with_limits(const json& resources, const std::string& field,
                         std::vector<Cause>& causes) {
  const json& requests = at_path(resources, {"requests"});
  const json& limits = at_path(resources, {"limits"});
  if (!requests.is_object()) return;
  for (const auto& [name, value] : requests.items()) {
    const bool may_differ = is_native_resource(name) && name.rfind("hugepages-", 0) != 0;
    const json& limit = at_path(limits, {name});
    if (limit.is_null()) {
      if (!may_differ) {
        causes.push_back(required_field(cat(field, ".limits"),
                                        "Limit must be set for non overcommitable resources"));
      }
      continue;
    }
    const auto wanted = Quantity::parse(text_of_quantity(value));
    const auto most = Quantity::parse(text_of_quantity(limit));
    if (!wanted || !most) continue;
    if (may_differ ? *wanted > *most : *wanted != *most) {
      causes.push_back(
          invalid_value(cat(field, ".requests"), in_quotes(text_of_quantity(value)),
                        cat(may_differ ? "must be less than or equal to " : "must be equal to ",
                            name, " limit of ", text_of_quantity(limit))));
    }
  }
}

}  // namespace

bool is_extended_resource_name(std::string_view name) {
  return !is_native_resource(name) && name.rfind("requests.", 0) != 0 &&
         is_qualified_name(cat("requests.", name));
}

void default_resource_requests(json& pod_spec) {
  for (const std::string_view list : kContainerLists) {
    const auto found = pod_spec.find(list);
    if (found == pod_spec.end() || !found->is_array()) continue;
    for (json& container : *found) {
      for (const char* amounts : {"limits", "requests"}) {
        if (!at_path(container, {"resources", amounts}).is_object()) continue;
        for (json& amount : container["resources"][amounts]) {
          if (amount.is_number()) amount = amount.dump();
        }
      }
      const json limits = at_path(container, {"resources", "limits"});
      if (!limits.is_object() || limits.empty()) continue;
      json& requests = container["resources"]["requests"];
      if (!requests.is_object()) requests = json::object();
      for (const auto& [name, limit] : limits.items()) {
        if (!requests.contains(name)) requests[name] = limit;
      }
    }
  }
}

void check_resources(const json& pod_spec, std::string_view field, std::vector<Cause>& causes) {
  for (const std::string_view list : kContainerLists) {
    const json& containers = at_path(pod_spec, {list});
    if (!containers.is_array()) continue;
    for (std::size_t i = 0; i < containers.size(); ++i) {
      const std::string here = cat(field, ".", list, "[", i, "].resources");
      const json& resources = at_path(containers[i], {"resources"});
      check_amounts(at_path(resources, {"limits"}), cat(here, ".limits"), causes);
      check_amounts(at_path(resources, {"requests"}), cat(here, ".requests"), causes);
      compare_with_limits(resources, here, causes);
    }
  }
}

std::vector<Cause> class_causes(const json& device_class) {
  const json& name = at_path(device_class, {"spec", "extendedResourceName"});
  if (!name.is_string() || is_extended_resource_name(name.get<std::string>())) return {};
  return {invalid_value("spec.extendedResourceName", in_quotes(name.get<std::string>()),
                        "must be a valid extended resource name")};
}

}  // namespace cdom::sandbox::server
