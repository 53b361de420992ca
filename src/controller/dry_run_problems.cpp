#include "dry_run_problems.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "compute_domain/base/text.h"

namespace cdom::controller {

namespace {

using base::cat;

const std::vector<std::string> kOurKinds{"ComputeDomain", "ComputeDomainClique",
                                         "ComputeDomainNode"};
const std::vector<std::string> kResourceKinds{"DeviceClass", "DeviceTaintRule", "ResourceClaim",
                                              "ResourceClaimTemplate", "ResourceSlice"};

const std::vector<std::string> kFieldNames{"allocationMode", "channel",  "clique",
                                           "name",           "numNodes", "placement",
                                           "policy",         "spec",     "resourceClaimTemplate",
                                           "status",         "workload"};

// "; did you mean numNodes?" where only the case differs.
std::string suggestion(const std::string& path) {
  const std::string last = path.substr(path.rfind('.') + 1);
  for (const std::string& name : kFieldNames) {
    if (base::to_lower(name) == base::to_lower(last)) return cat("; did you mean ", name, "?");
  }
  return "";
}

std::string pods_text(std::int64_t count) { return cat(count, count == 1 ? " pod" : " pods"); }
std::string nodes_text(std::int64_t count) { return cat(count, count == 1 ? " node" : " nodes"); }

const api::ComputeDomain* maker_of(const Stores& stores, const api::ObjectName& name) {
  const auto domains = stores.domains.by_index(kByTemplate, api::to_string(name));
  return domains.empty() ? nullptr : domains.front().get();
}

// Pods that name the template; nullopt: that cannot be counted, or none is here.
std::optional<std::int64_t> pods_with(const std::vector<api::AskedPods>& asked,
                                      const api::ObjectName& name) {
  std::int64_t count = 0;
  for (const api::AskedPods& pods : asked) {
    const auto it = pods.templates.find(name.name);
    if (pods.name.ns != name.ns || it == pods.templates.end()) continue;
    if (!pods.is_countable) return std::nullopt;
    count += it->second;
  }
  return count == 0 ? std::nullopt : std::optional(count);
}

std::int64_t seats_in(const Stores& stores) {
  std::int64_t seats = 0;
  for (const auto& slice : stores.slices.all()) {
    if (!slice->node.empty()) seats += std::ssize(slice->devices);
  }
  return seats;
}

}  // namespace

std::string unknown_kind(const api::TypeMeta& type) {
  for (const auto& [group, kinds] : {std::pair("resource.nvidia.com/", &kOurKinds),
                                     std::pair("resource.k8s.io/", &kResourceKinds)}) {
    const bool is_of_group = type.api_version.starts_with(group);
    const bool is_known = std::ranges::find(*kinds, type.kind) != kinds->end();
    if (is_of_group && !is_known) {
      return cat("no kind \"", type.kind, "\" in ", type.api_version, ": it has ",
                 base::join(*kinds, ", "));
    }
    if (!is_of_group && is_known) {
      return cat("no kind \"", type.kind, "\" in ", type.api_version, ": it is of ", group,
                 "…, as in apiVersion: ",
                 kinds == &kOurKinds ? "resource.nvidia.com/v1beta1" : "resource.k8s.io/v1");
    }
  }
  return "";
}

std::vector<std::string> unknown_fields(const std::string& json) {
  std::vector<std::string> lines;
  for (const std::string& path : api::unknown_domain_fields(json)) {
    lines.push_back(cat("unknown field \"", path, "\"", suggestion(path)));
  }
  return lines;
}

std::vector<std::string> mismatches(const Stores& stores,
                                    const std::vector<api::AskedPods>& asked) {
  std::vector<std::string> lines;
  for (const api::AskedPods& pods : asked) {
    for (const auto& [name, count] : pods.templates) {
      const api::ObjectName full{pods.name.ns, name};
      if (stores.templates.get(full) != nullptr || maker_of(stores, full) != nullptr) continue;
      lines.push_back(cat(pods.kind, " ", api::to_string(pods.name),
                          " names ResourceClaimTemplate \"", name,
                          "\", which is not among these objects, and which none of their "
                          "ComputeDomains makes: its pods would not start"));
    }
  }
  const std::int64_t seats = seats_in(stores);
  for (const auto& domain : stores.domains.all()) {
    const std::int64_t wants = domain->spec.num_nodes;
    const std::string who = cat("ComputeDomain ", api::to_string(api::name_of(domain->meta)),
                                " wants ", nodes_text(wants));
    if (domain->spec.channel) {
      const auto pods = pods_with(asked, {domain->meta.ns, domain->spec.channel->template_name});
      if (pods && *pods < wants) {
        lines.push_back(cat(who, ", and ", pods_text(*pods), *pods == 1 ? " names" : " name",
                            " its template: it would wait for more; lower spec.numNodes, or start "
                            "more pods"));
      }
    }
    if (stores.slices.size() > 0 && seats < wants) {
      lines.push_back(cat(who, ", and the nodes among these objects offer ", seats,
                          seats == 1 ? " seat" : " seats"));
    }
  }
  std::ranges::sort(lines);
  return lines;
}

}  // namespace cdom::controller
