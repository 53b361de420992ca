// Builders: test data as sentences. domain("train").wants(2), claim("c1").of("train").on("n1").
#pragma once

#include <string>
#include <vector>

#include "compute_domain/api/channel_config.h"
#include "compute_domain/api/names.h"
#include "compute_domain/base/clock.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/reconcile.h"

namespace cdom::core::testing {

inline constexpr char kClique[] = "6f0a5a5e-0000-4000-8000-000000000001.0";
inline const base::Time kNow = *base::parse_rfc3339("2026-01-01T00:00:00Z");
inline constexpr base::Duration kElapsed = std::chrono::hours(1);  // of the process, at kNow

inline std::string uid_of(const std::string& name) { return "uid-" + name; }

struct DomainBuilder {
  api::ComputeDomain object;

  DomainBuilder& wants(std::int64_t nodes) { return object.spec.num_nodes = nodes, *this; }
  DomainBuilder& template_name(const std::string& name) {
    return object.spec.channel = api::ComputeDomainChannel{.template_name = name}, *this;
  }
  DomainBuilder& finalized() {
    return object.meta.finalizers.emplace_back(api::kDomainFinalizer), *this;
  }
  DomainBuilder& deleting() { return object.meta.deletion_time = kNow, *this; }
  operator api::ComputeDomain() const { return object; }  // NOLINT(google-explicit-constructor)
};

inline DomainBuilder domain(const std::string& name) {
  DomainBuilder builder;
  builder.object.meta.name = name;
  builder.object.meta.ns = "team-a";
  builder.object.meta.uid = uid_of(name);
  builder.object.meta.resource_version = "1";
  builder.object.meta.generation = 1;
  return builder.template_name(name + "-channel");
}

struct ClaimBuilder {
  api::ResourceClaim object;

  ClaimBuilder& of(const std::string& domain_name) {
    object.spec.configs = {
        {.requests = {"channel"},
         .driver = api::kDriver,
         .parameters = api::encode_channel_config({.domain_uid = uid_of(domain_name)}),
         .from_class = false}};
    return *this;
  }
  ClaimBuilder& in(const std::string& ns) { return object.meta.ns = ns, *this; }
  ClaimBuilder& on(const std::string& node) {
    object.allocation = api::Allocation{.devices = {{.request = "channel",
                                                     .driver = api::kDriver,
                                                     .pool = node,
                                                     .device = "channel-0"}},
                                        .configs = object.spec.configs,
                                        .node = node};
    return reserved();
  }
  ClaimBuilder& reserved() {
    object.reserved_for = {{.resource = "pods", .name = "pod-" + object.meta.name, .uid = "p"}};
    return *this;
  }
  ClaimBuilder& unreserved() { return object.reserved_for.clear(), *this; }
  ClaimBuilder& with_admin_access() {
    return object.allocation->devices.front().admin_access = true, *this;
  }
  operator api::ResourceClaim() const { return object; }  // NOLINT(google-explicit-constructor)
};

inline ClaimBuilder claim(const std::string& name) {
  ClaimBuilder builder;
  builder.object.meta.name = name;
  builder.object.meta.ns = "team-a";
  builder.object.meta.uid = uid_of(name);
  builder.object.meta.resource_version = "1";
  return builder.of("train");
}

inline std::string address_of(const std::string& node) { return "10.88.1." + node.substr(1); }

// A node that is up, whose agent has reported, and which serves nothing.
inline NodeView idle_node(const std::string& name, const std::string& clique = kClique) {
  NodeView view;
  view.node = api::Node{};
  view.node->meta.name = name;
  view.node->boot_id = "boot-1";
  if (!clique.empty()) view.node->meta.labels[api::kNodeCliqueLabel] = clique;
  view.node->ready = api::ConditionStatus::True;
  view.report = api::ComputeDomainNode{};
  view.report->meta.name = name;
  view.report->meta.uid = uid_of(name);
  view.report->status.boot_id = "boot-1";
  view.report->status.clique = clique;
  view.report->status.address = address_of(name);
  view.agent = AgentPod{.ready = true, .lasts = {}};
  return view;
}

// The world of domain "train" with claims c1…cN on nodes n1…nN, each idle.
inline World world_of(const api::ComputeDomain& object, int nodes) {
  World world;
  world.now = kNow;
  world.settings.arrivals_pause = {};  // what a list is, not how long it waits
  world.view.uid = object.meta.uid;
  world.view.domain = object;
  for (int i = 1; i <= nodes; ++i) {
    const std::string number = std::to_string(i);
    world.view.claims.push_back(claim("c" + number).of(object.meta.name).on("n" + number));
    world.nodes["n" + number] = idle_node("n" + number);
  }
  return world;
}

inline ImexGroupKey group_of(const World& world, const std::string& clique = kClique) {
  return {world.view.uid, clique};
}

// Applies the node list that a group key writes, as the API server would.
inline Plan write_list(World& world, const std::string& clique = kClique) {
  Plan plan = reconcile_group(world, group_of(world, clique));
  for (const Action& action : plan.actions) {
    const auto* write = std::get_if<WriteNodeList>(&action);
    if (write == nullptr) continue;
    api::ConfigMap map = write->desired;
    map.meta.uid = "uid-" + map.meta.name;
    map.meta.resource_version =
        std::to_string(std::stoi("0" + write->current.resource_version) + 1);
    std::erase_if(world.lists, [&](const StoredList& s) { return s.meta.name == map.meta.name; });
    world.lists.push_back(stored_list(map));
  }
  return plan;
}

inline const api::NodeList& list_in(const World& world, const std::string& clique = kClique) {
  return *find_list(world.lists, group_id({world.view.uid, clique}));
}

inline api::ImexGroupReport& group_report(World& world, const std::string& node) {
  return world.nodes.at(node).report->status.groups.front();
}

// Every entry of the list reports a READY daemon that is connected to all others.
inline void report_ready(World& world, const std::string& clique = kClique) {
  const api::NodeList& list = list_in(world, clique);
  for (const api::NodeListEntry& entry : list.entries) {
    api::ImexGroupReport report;
    report.group = list.group;
    report.slot = entry.slot;
    report.term = entry.term;
    for (const api::Admission& admission : entry.admits)
      report.claims.push_back(admission.claim_uid);
    if (list.slots > 0) {
      report.table_hash = api::table_hash(list);
      report.state = api::DaemonState::Ready;
      report.instance = "i-" + entry.node;
      report.connected = base::cat("0-", list.slots - 1);
    }
    world.nodes.at(entry.node).report->status.groups = {report};
  }
}

// The template as the API server shows it once it was made.
inline void make_template(World& world) {
  api::ResourceClaimTemplate object = *wanted_template(*world.view.domain);
  object.meta.uid = "uid-template";
  world.templates = {object};
}

inline const SetStatus* status_in(const Plan& plan) {
  for (const Action& action : plan.actions) {
    if (const auto* set = std::get_if<SetStatus>(&action)) return set;
  }
  return nullptr;
}

inline void apply_status(World& world, const Plan& plan) {
  if (const SetStatus* set = status_in(plan)) world.view.domain->status = set->status;
}

inline api::Condition condition_in(const Plan& plan, const std::string& type) {
  const SetStatus* set = status_in(plan);
  const api::Condition* found =
      set == nullptr ? nullptr : api::find_condition(set->status.conditions, type);
  return found == nullptr ? api::Condition{} : *found;
}

// A domain of `nodes` nodes that is Ready, with nothing left to do.
inline World settled_world(int nodes = 2) {
  World world = world_of(domain("train").wants(nodes).finalized(), nodes);
  make_template(world);
  write_list(world);
  report_ready(world);
  write_list(world);  // the daemons' instances
  apply_status(world, reconcile(world));
  return world;
}

// The names of a plan's actions, for plans whose content is not the point.
inline std::vector<std::string> sentences(const Plan& plan) {
  std::vector<std::string> all;
  for (const Action& action : plan.actions) all.push_back(to_string(action));
  return all;
}

}  // namespace cdom::core::testing
