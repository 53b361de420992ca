#include "dry_run_problems.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/claim_config.h"

namespace cdom::controller {

namespace {

using base::cat;

// Of taints there are versions that nothing else has, and nobody here reads them.
constexpr char kTaintRule[] = "DeviceTaintRule";

// Kinds of a group, and the versions in which somebody may serve them, the newest first.
struct Group {
  std::string name;
  std::set<std::string> kinds;
  std::vector<std::string_view> versions;
};

// That of `kind`, with those of the table that are in it too, and `others`.
Group group_of(const api::Kind& kind, const std::set<std::string>& others = {}) {
  Group group{std::string(kind.group), others, kind.versions};
  for (const api::Kind* other : api::all_kinds()) {
    if (other->group == kind.group) group.kinds.emplace(other->kind);
  }
  return group;
}

const std::vector<Group>& groups() {
  static const std::vector<Group> all{group_of(api::kind_of<api::ComputeDomain>()),
                                      group_of(api::kind_of<api::ResourceClaim>(), {kTaintRule})};
  return all;
}

// "; did you mean numNodes?" where only the case differs.
std::string suggestion(const std::string& path) {
  const std::string name = api::domain_field_in_other_case(path);
  return name.empty() ? "" : cat("; did you mean ", name, "?");
}

std::string pods_text(std::int64_t count) { return cat(count, count == 1 ? " pod" : " pods"); }
std::string nodes_text(std::int64_t count) { return cat(count, count == 1 ? " node" : " nodes"); }

bool is_of_a_domain(const Stores& stores, const api::ObjectName& name) {
  return stores.domains.has(kByTemplate, api::to_string(name));
}

// Whether claims of that template are for this driver; of one that nobody has seen nobody knows.
bool is_for_domains(const Stores& stores, const api::ObjectName& name) {
  const auto object = stores.templates.get(name);
  return is_of_a_domain(stores, name) || (object != nullptr && core::asks_for_domain(object->spec));
}

bool is_asking_for(const api::AskedPods& pods, const api::ObjectName& name) {
  return pods.name.ns == name.ns && pods.templates.contains(name.name);
}

// Whether something else among the objects asks for that pod, too: what has made it, or has made
// that, by the names that these give: JobSet "run", Job "run-w-0", Pod "run-w-0-1-x7k2p".
bool is_counted_elsewhere(const api::AskedPods& pod, const api::ObjectName& name,
                          const std::vector<const api::AskedPods*>& all) {
  if (pod.controller.empty()) return false;
  return std::ranges::any_of(all, [&](const api::AskedPods* other) {
    if (other->kind == "Pod" || !is_asking_for(*other, name)) return false;
    // These make pods themselves.
    static const std::set<std::string> kMakers{"Job", "ReplicaSet", "StatefulSet", "DaemonSet"};
    return pod.controller == other->name.name ||
           (!kMakers.contains(other->kind) &&
            pod.controller.starts_with(cat(other->name.name, "-")));
  });
}

// Pods that name the template; nullopt: they cannot be counted, or there are none.
std::optional<std::int64_t> pods_with(const std::vector<const api::AskedPods*>& all,
                                      const api::ObjectName& name) {
  std::int64_t count = 0;
  for (const api::AskedPods* pods : all) {
    if (!is_asking_for(*pods, name) || pods->has_ended || is_counted_elsewhere(*pods, name, all))
      continue;
    if (!pods->is_countable) return std::nullopt;
    count += pods->templates.at(name.name);
  }
  return count == 0 ? std::nullopt : std::optional(count);
}

std::int64_t seats_in(const Stores& stores) {
  std::int64_t seats = 0;
  for (const auto& slice : stores.slices.all()) {
    const bool is_ours = slice->driver == api::kDriver;
    if (is_ours && !slice->node.empty()) seats += std::ssize(slice->devices);
  }
  return seats;
}

// The template by whose name pods join it; of no name where it has none.
api::ObjectName template_of(const api::ComputeDomain& domain) {
  return {domain.meta.ns, domain.spec.channel ? domain.spec.channel->template_name : ""};
}

bool has_pods(const std::vector<api::AskedPods>& asked, const api::ObjectName& template_name) {
  return std::ranges::any_of(
      asked, [&](const api::AskedPods& pods) { return is_asking_for(pods, template_name); });
}

std::vector<std::string> faults_of(const api::AskedPods& pods, const Stores& stores) {
  std::vector<std::string> lines;
  if (!pods.controller.empty()) return lines;  // which says the same of its own
  const std::string who = cat(pods.kind, " ", api::to_string(pods.name));
  for (const auto& [name, count] : pods.templates) {
    if (pods.has_node) break;  // its claims are there already
    const api::ObjectName full{pods.name.ns, name};
    if (stores.templates.get(full) != nullptr || is_of_a_domain(stores, full)) continue;
    lines.push_back(cat(who, " names ResourceClaimTemplate \"", name,
                        "\", which is not among these objects, and which none of their "
                        "ComputeDomains makes: its pods would not start"));
  }
  for (const auto& [entry, name] : pods.unused) {
    if (!is_for_domains(stores, {pods.name.ns, name})) continue;
    lines.push_back(cat(who, ": no container uses claim ", entry,
                        ", so its pods would run without an IMEX channel: add resources.claims: "
                        "[{name: ",
                        entry, "}] to the container that needs it"));
  }
  return lines;
}

// That it would have fewer pods or seats than it wants nodes.
std::vector<std::string> lacks_of(const api::ComputeDomain& domain, const Stores& stores,
                                  const std::vector<const api::AskedPods*>& asked) {
  std::vector<std::string> lines;
  const std::int64_t wants = domain.spec.num_nodes;
  const std::string who = cat("ComputeDomain ", api::to_string(api::name_of(domain.meta)),
                              " wants ", nodes_text(wants));
  if (domain.spec.channel) {
    const auto pods = pods_with(asked, template_of(domain));
    if (pods && *pods < wants) {
      lines.push_back(cat(who, ", and ", pods_text(*pods), *pods == 1 ? " names" : " name",
                          " its template: it would wait for more; lower spec.numNodes, or start "
                          "more pods"));
    }
  }
  const std::int64_t seats = seats_in(stores);
  if (stores.slices.size() > 0 && seats < wants) {
    lines.push_back(cat(who, ", and the nodes among these objects offer ", seats,
                        seats == 1 ? " seat" : " seats"));
  }
  return lines;
}

}  // namespace

std::string unknown_kind(const api::TypeMeta& type) {
  const std::size_t slash = type.api_version.find('/');
  const std::string name = slash == std::string::npos ? "" : type.api_version.substr(0, slash);
  const std::string version = type.api_version.substr(slash == std::string::npos ? 0 : slash + 1);
  for (const Group& group : groups()) {
    const bool is_of_group = name == group.name, is_known = group.kinds.contains(type.kind);
    const std::string newest = cat(group.name, "/", group.versions.front());
    if (is_of_group && !is_known) {
      return cat("no kind \"", type.kind, "\" in ", type.api_version, ": it has ",
                 base::join({group.kinds.begin(), group.kinds.end()}, ", "));
    }
    if (!is_of_group && is_known) {
      return cat("no kind \"", type.kind, "\" in ", type.api_version, ": it is of ", group.name,
                 "/…, as in apiVersion: ", newest);
    }
    const bool is_served = type.kind == kTaintRule ||
                           std::ranges::find(group.versions, version) != group.versions.end();
    if (is_of_group && !is_served) {
      return cat("no version \"", version, "\" of ", type.kind, ": it is ", newest);
    }
  }
  return "";
}

std::vector<std::string> faults_of(const api::ComputeDomain& domain) {
  std::vector<std::string> lines;
  if (domain.spec.num_nodes < 0) {
    lines.push_back(cat("spec.numNodes is ", domain.spec.num_nodes,
                        ": give 0, for as many nodes as come, or more"));
  }
  if (domain.spec.channel && domain.spec.workload) {
    lines.emplace_back(
        "spec.channel and spec.workload exclude each other: leave out spec.workload, which is for "
        "the ComputeDomains that the controller makes itself");
  }
  if (api::wants_one_clique(domain) && domain.spec.num_nodes == 0 && !domain.spec.workload) {
    lines.emplace_back("spec.placement.clique=Single requires spec.numNodes");
  }
  if (domain.spec.channel && !base::is_dns_subdomain(domain.spec.channel->template_name)) {
    const std::string& name = domain.spec.channel->template_name;
    const char field[] = "spec.channel.resourceClaimTemplate.name";
    lines.push_back(name.empty() ? cat(field, " is missing: pods join the domain by that name")
                                 : cat(field, ": \"", name,
                                       "\" is not a DNS subdomain (lower-case letters, digits, "
                                       "'-' and '.')"));
  }
  return lines;
}

std::vector<std::string> unknown_fields(const std::string& json) {
  std::vector<std::string> lines;
  for (const std::string& path : api::unknown_domain_fields(json)) {
    lines.push_back(cat("unknown field \"", path, "\"", suggestion(path)));
  }
  return lines;
}

std::vector<std::string> config_faults(const api::TypeMeta& type, const std::string& json) {
  std::string name, mistake;
  if (type.kind == api::kind_of<api::ResourceClaim>().kind) {
    const auto claim = api::decode<api::ResourceClaim>(json);
    if (!claim) return {};
    name = api::to_string(api::name_of(claim->meta));
    mistake = core::config_mistake(claim->spec.configs);
  } else if (type.kind == api::kind_of<api::ResourceClaimTemplate>().kind) {
    const auto object = api::decode<api::ResourceClaimTemplate>(json);
    if (!object) return {};
    name = api::to_string(api::name_of(object->meta));
    mistake = core::config_mistake(object->spec.configs);
  }
  if (mistake.empty()) return {};
  return {cat(type.kind, " ", name, ": its configuration for ", api::kDriver,
              " cannot be used: ", mistake)};
}

Mismatches mismatches(const Stores& stores, const AskedObjects& asked) {
  Mismatches found;
  std::vector<const api::AskedPods*> all;
  for (const api::AskedPods& pods : asked.planned) {
    all.push_back(&pods);
    std::ranges::move(faults_of(pods, stores), std::back_inserter(found.planned));
  }
  for (const api::AskedPods& pods : asked.there) {
    all.push_back(&pods);
    std::ranges::move(faults_of(pods, stores), std::back_inserter(found.earlier));
  }
  for (const auto& domain : stores.domains.all()) {
    const bool is_planned = asked.planned_domains.contains(api::name_of(domain->meta)) ||
                            has_pods(asked.planned, template_of(*domain));
    std::ranges::move(lacks_of(*domain, stores, all),
                      std::back_inserter(is_planned ? found.planned : found.earlier));
  }
  std::ranges::sort(found.planned);
  std::ranges::sort(found.earlier);
  return found;
}

}  // namespace cdom::controller
