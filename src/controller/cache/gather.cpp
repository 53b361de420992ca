#include "compute_domain/controller/gather.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "compute_domain/api/names.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/status.h"
#include "compute_domain/core/templates.h"

namespace cdom::controller {

namespace {

bool has_predecessor(const Sources& from, const std::string& uid) {
  return std::ranges::any_of(from.settings.adopt_from, [&](const std::string& ns) {
    const auto sign = from.stores.templates.get({ns, core::predecessors_name(uid)});
    return sign && core::is_predecessors_sign(sign->meta, uid, from.settings);
  });
}

core::DomainView view_of(const Sources& from, const std::string& uid) {
  const Stores& stores = from.stores;
  core::DomainView view{.uid = uid, .domain = std::nullopt, .claims = {}};
  view.has_predecessor = has_predecessor(from, uid);
  for (const auto& domain : stores.domains.by_index(kByUid, uid)) view.domain = *domain;
  for (const auto& claim : stores.claims.by_index(kByDomain, uid)) view.claims.push_back(*claim);
  if (view.domain && view.domain->spec.workload) {
    const std::string workload = view.domain->meta.label(api::kWorkloadLabel);
    for (const std::string& claim_uid : from.workloads.claims_of(workload)) {
      for (const auto& claim : stores.claims.by_index(kUnnamedByUid, claim_uid)) {
        // Anybody may write the label that a domain is known by.
        if (claim->meta.ns == view.domain->meta.ns) view.claims.push_back(*claim);
      }
    }
  }
  for (api::ResourceClaim& claim : view.claims) from.workloads.place_consumers(claim);
  return view;
}

// The domain's own, and those of cliques where it has a channel or may get one.
std::vector<core::StoredList> lists_of(const Sources& from, const core::DomainView& view) {
  std::map<std::string, kube::Store<core::StoredList>::Snapshot> found;
  for (const auto& list : from.stores.lists.by_index(kByDomain, view.uid)) {
    found.emplace(list->meta.name, list);
  }
  for (const api::ResourceClaim& claim : view.claims) {
    for (const std::string& node : core::nodes_of(claim)) {
      for (const auto& list : from.stores.lists.by_index(kByNode, node)) {
        if (core::is_of_clique(list->meta)) found.emplace(list->meta.name, list);
      }
    }
  }
  std::vector<core::StoredList> lists;
  lists.reserve(found.size());
  for (const auto& [name, list] : found) lists.push_back(*list);
  return lists;
}

// The domains with claims on a node.
std::set<std::string> domains_on(const Sources& from, const std::string& node) {
  std::set<std::string> uids;
  for (const auto& claim : claims_on(from, node)) {
    core::DomainRef ref = core::domain_ref_of(*claim);
    if (ref.kind == core::DomainRef::Kind::Named) uids.insert(std::move(ref.uid));
    if (ref.kind != core::DomainRef::Kind::Automatic) continue;
    const auto workload = from.workloads.workload_of(claim->meta.uid);
    if (!workload) continue;
    const std::string key = workload_in(claim->meta.ns, *workload);
    for (const auto& domain : from.stores.domains.by_index(kByWorkload, key)) {
      uids.insert(domain->meta.uid);
    }
  }
  return uids;
}

std::optional<std::string> published_clique(const Stores& stores, const std::string& node) {
  std::optional<std::string> clique;
  for (const auto& slice : stores.slices.by_index(kByNode, node)) {
    // One without seats says nothing: its node is changing over, or cannot serve.
    if (slice->driver != api::kDriver || slice->devices.empty()) continue;
    if (!clique) clique = "";
    for (const std::string& published : cliques_of_devices(*slice)) clique = published;
  }
  return clique;
}

// The agent's pods tell whether it lives. When a node has none, it has had none since this process
// saw the last one go, or, if it saw none, since this process began to decide.
std::optional<core::AgentPod> agent_of(const Sources& from, const std::string& node) {
  const base::Duration now = from.clock.elapsed();
  if (const auto known = from.memory.agent(node)) {
    return core::AgentPod{.ready = known->ready, .lasts = now - known->since};
  }
  const auto since = from.memory.decides_since();
  if (!since) return std::nullopt;
  core::AgentPod agent{.ready = false, .lasts = now - *since};
  for (const auto& pod : from.stores.agents.by_index(kByNode, node)) {
    agent.ready = agent.ready || pod->ready;
  }
  return agent;
}

// Of a process that has just begun to decide the domain is as new as of one that has just started:
// it has asked for nothing before.
base::Duration known_for(const Sources& from, const std::string& uid) {
  const base::Duration now = from.clock.elapsed();
  const base::Duration known = from.memory.domain_known_for(uid, now);
  const auto since = from.memory.decides_since();
  return since ? std::min(known, now - *since) : known;
}

core::NodeView node_view(const Sources& from, const std::string& name) {
  core::NodeView view;
  if (const auto node = from.stores.nodes.get({"", name})) view.node = *node;
  if (const auto report = from.stores.reports.get({"", name})) view.report = *report;
  view.agent = agent_of(from, name);
  view.restless_for = from.memory.restless_for(name, from.clock.elapsed());
  return view;
}

std::optional<core::Reservation> reservation_of(const Sources& from, const std::string& uid) {
  const auto reservations =
      from.stores.lists.get({from.settings.operator_namespace, core::kReservationsName});
  const bool is_there = reservations != nullptr && reservations->reservations;
  return is_there ? core::reservation_in(*reservations->reservations, uid) : std::nullopt;
}

core::NodeViews nodes_concerned(const Sources& from, const core::DomainView& view,
                                const std::vector<core::StoredList>& lists) {
  std::set<std::string> names;
  for (const api::ResourceClaim& claim : view.claims) {
    for (const std::string& node : core::nodes_of(claim)) names.insert(node);
  }
  for (const core::StoredList& stored : lists) {
    if (!stored.list) continue;
    for (const api::NodeListEntry& entry : stored.list->entries) names.insert(entry.node);
  }
  if (view.domain && view.domain->status) {
    for (const auto& status : view.domain->status->nodes) names.insert(status.name);
  }
  core::NodeViews nodes;
  for (const std::string& name : names) nodes.emplace(name, node_view(from, name));
  return nodes;
}

}  // namespace

bool is_usable_on(const Sources& from, const api::ResourceClaim& claim, const std::string& node) {
  const auto report = from.stores.reports.get({"", node});
  const auto object = from.stores.nodes.get({"", node});
  if (core::is_usable_on(claim, node, report.get(), object.get())) return true;
  return std::ranges::any_of(from.stores.lists.by_index(kByNode, node), [&](const auto& list) {
    return core::keeps_on(*list, claim, node, report.get());
  });
}

Claims shared_on(const Sources& from, const std::string& node) {
  Claims claims;
  for (const api::ObjectName& name : from.workloads.shared_on(node)) {
    auto claim = from.stores.claims.get(name);
    if (claim && is_usable_on(from, *claim, node)) claims.push_back(std::move(claim));
  }
  return claims;
}

Claims claims_on(const Sources& from, const std::string& node) {
  Claims claims = from.stores.claims.by_index(kByNode, node);
  std::ranges::move(shared_on(from, node), std::back_inserter(claims));
  return claims;
}

namespace {

std::vector<core::ImexGroupKey> groups_in(const core::World& world) {
  return core::groups_of(world.view, world.nodes, world.lists);
}

// What the keys that write for the domain meet.
void add_refusals(const Sources& from, core::World& world) {
  std::set<Key> keys{domain_key(world.view.uid)};
  for (const core::ImexGroupKey& group : groups_in(world)) keys.insert(group_key(group));
  if (world.view.domain && api::wants_one_clique(*world.view.domain)) keys.insert(placement_key());
  for (const Key& key : keys) {
    if (auto what = from.memory.refusal(key)) world.refusals.push_back(*std::move(what));
    if (auto lasts = from.memory.lasting_failure(key)) world.failures.push_back(*std::move(lasts));
  }
}

void add_makers(const Sources& from, core::World& world) {
  const std::string& ns = world.view.domain->meta.ns;
  std::set<std::string> pods;
  for (const api::ResourceClaim& claim : world.view.claims) {
    if (claim.meta.ns != ns) continue;
    for (const api::ClaimConsumer& consumer : claim.reserved_for) pods.insert(consumer.uid);
  }
  const auto read = from.workloads.last_read(ns);
  if (read == nullptr) return;
  world.makers = read->makers_of(pods);
  world.pods_read = world.now - (from.clock.elapsed() - read->at);
}

std::string namespace_of(const Sources& from, const std::string& uid) {
  const auto domains = from.stores.domains.by_index(kByUid, uid);
  return domains.empty() ? "" : domains.front()->meta.ns;
}

// Where pods of shared claims run is in memory alone.
bool awaits_pods(const Sources& from, const std::string& ns, const core::DomainView& view) {
  if (ns.empty() || from.workloads.last_read(ns) != nullptr) return false;
  return std::ranges::any_of(view.claims, [&](const api::ResourceClaim& claim) {
    return claim.meta.ns == ns && core::is_shared(claim) &&
           std::ranges::any_of(claim.reserved_for, [](const api::ClaimConsumer& consumer) {
             return consumer.resource == "pods" && consumer.node.empty();
           });
  });
}

void add_templates(const Sources& from, core::World& world) {
  if (!world.view.domain) {
    for (const auto& object : from.stores.templates.by_index(kByDomain, world.view.uid)) {
      world.templates.push_back(*object);
    }
  } else if (world.view.domain->spec.channel) {
    const api::ObjectName wanted{world.view.domain->meta.ns,
                                 world.view.domain->spec.channel->template_name};
    if (const auto found = from.stores.templates.get(wanted)) world.templates.push_back(*found);
  }
}

}  // namespace

core::World gather_groups(const Sources& from, const std::string& uid) {
  core::World world;
  world.now = from.clock.now();
  world.settings = from.settings;
  // Before the claims: one that becomes known meanwhile is not among them.
  const std::string ns = namespace_of(from, uid);
  world.has_unknown_claims = !ns.empty() && from.workloads.has_unknown_claims(ns);
  world.view = view_of(from, uid);
  world.awaits_pods = awaits_pods(from, ns, world.view);
  world.lists = lists_of(from, world.view);
  world.nodes = nodes_concerned(from, world.view, world.lists);
  world.lists_written = from.memory.lists_written(uid);
  world.lists_held = from.memory.lists_held(uid);
  return world;
}

void gather_rest(const Sources& from, core::World& world) {
  const std::string& uid = world.view.uid;
  // What is remembered here may have come since.
  world.now = from.clock.now();
  add_templates(from, world);
  world.status_written = from.memory.status_written(uid);
  world.known_for = known_for(from, uid);
  world.unreported_list = from.memory.unreported_list(uid);
  for (const api::ResourceClaim& claim : world.view.claims) {
    if (from.memory.is_reported(claim.meta.uid)) world.reported_claims.insert(claim.meta.uid);
  }
  if (!core::waiting_claims(world.view, world.now).empty()) world.seats = seats_of(from);
  if (world.view.domain && api::wants_one_clique(*world.view.domain)) {
    world.reservation = reservation_of(from, uid);
    world.placement = from.memory.placement(uid);
  }
  if (world.view.domain && world.view.domain->meta.is_deleting()) add_makers(from, world);
  add_refusals(from, world);
  world.pruned = from.memory.pruned(uid);
}

core::World gather_domain(const Sources& from, const std::string& uid) {
  core::World world = gather_groups(from, uid);
  gather_rest(from, world);
  return world;
}

core::CliqueWorld gather_clique(const Sources& from, const std::string& clique) {
  core::CliqueWorld world;
  world.now = from.clock.now();
  world.settings = from.settings;
  world.clique = clique;
  const core::ImexGroupKey key{"", clique};
  std::set<std::string> nodes, domains;
  for (const auto& report : from.stores.reports.by_index(kByClique, clique)) {
    nodes.insert(report->meta.name);
  }
  const std::string name = core::node_list_name(core::group_id(key));
  if (const auto stored = from.stores.lists.get({from.settings.operator_namespace, name})) {
    world.list = *stored;
    if (world.list->list) {
      for (const api::NodeListEntry& entry : world.list->list->entries) nodes.insert(entry.node);
      for (const api::Channel& channel : world.list->list->channels) {
        if (channel.release == 0) domains.insert(channel.domain_uid);
      }
    }
  }
  for (const std::string& node : nodes) {
    world.nodes.emplace(node, node_view(from, node));
    domains.merge(domains_on(from, node));
  }
  for (const std::string& uid : domains) {
    world.domains.push_back(view_of(from, uid));
    if (const auto left = from.memory.end_unproved_for(uid, from.clock.elapsed())) {
      world.unproven.emplace(uid, *left);
    }
    for (const auto& list : from.stores.lists.by_index(kByDomain, uid)) {
      if (core::is_own(list->meta, uid)) world.lists_of_domains[uid].push_back(*list);
    }
  }
  world.list_written = from.memory.list_written(key);
  return world;
}

core::ReportWorld gather_report(const Sources& from, const std::string& node) {
  core::ReportWorld world{.node = node,
                          .view = node_view(from, node),
                          .lists = {},
                          .now = from.clock.now(),
                          .settings = from.settings};
  if (world.view.node) return world;
  for (const auto& list : from.stores.lists.by_index(kByNode, node)) {
    world.lists.push_back(*list);
  }
  return world;
}

core::LabelWorld gather_label(const Sources& from, const std::string& node) {
  core::LabelWorld world;
  if (const auto found = from.stores.nodes.get({"", node})) world.node = *found;
  world.clique = published_clique(from.stores, node);
  return world;
}

core::AgentLabelWorld gather_agent_label(const Sources& from, const std::string& node) {
  core::AgentLabelWorld world{.view = node_view(from, node)};
  world.has_claims = !claims_on(from, node).empty();
  world.may_have_claims = from.stores.claims.has(kByShared, kIsShared);
  return world;
}

core::SharedSliceWorld gather_shared_slice(const Sources& from, const std::string& clique) {
  core::SharedSliceWorld world;
  world.clique = clique;
  // The scheduler finds the clique by a Node's label; one that only an agent reports has no nodes.
  world.has_nodes =
      std::ranges::any_of(from.stores.slices.by_index(kByClique, clique), [&](const auto& slice) {
        const auto node = from.stores.nodes.get({"", slice->node});
        return node != nullptr && node->meta.label(api::kNodeCliqueLabel) == clique;
      });
  if (const auto slice = from.stores.slices.get({"", core::shared_slice_name(clique)})) {
    world.stored = *slice;
  }
  return world;
}

core::CliqueObjectsWorld gather_clique_objects(const Sources& from, const std::string& uid) {
  core::CliqueObjectsWorld world;
  world.uid = uid;
  world.ns = from.settings.operator_namespace;
  for (const auto& domain : from.stores.domains.by_index(kByUid, uid)) world.domain = *domain;
  world.has_predecessor = has_predecessor(from, uid);
  for (const auto& object : from.stores.cliques.by_index(kByDomain, uid)) {
    world.stored.push_back(*object);
    const std::string& own = object->meta.uid;
    if (from.memory.is_reported(own)) world.reported.insert(own);
    if (auto pruned = from.memory.pruned_daemons(own)) world.pruned[own] = *std::move(pruned);
  }
  return world;
}

core::WorkloadsWorld gather_workloads(const Sources& from, const std::string& ns) {
  core::WorkloadsWorld world;
  world.now = from.clock.elapsed();
  world.ns = ns;
  for (const auto& claim : from.stores.claims.by_index(kUnnamedIn, ns)) {
    world.claims.push_back({.object = *claim,
                            .seen = world.now,
                            .is_reported = from.memory.is_reported(claim->meta.uid)});
  }
  for (const auto& domain : from.stores.domains.by_index(kByNamespace, ns)) {
    world.domains.push_back(*domain);
  }
  from.workloads.describe(world);
  return world;
}

std::set<std::string> domains_concerned(const Sources& from, const Key& key) {
  switch (key.kind) {
    case Key::Kind::Domain:
    case Key::Kind::Group:
      return {key.id};
    case Key::Kind::Clique: {
      std::set<std::string> uids;
      for (const core::DomainView& view : gather_clique(from, key.id).domains) {
        uids.insert(view.uid);
      }
      return uids;
    }
    case Key::Kind::Placement: {
      std::set<std::string> uids;
      for (const auto& domain : from.stores.domains.by_index(kByPlacement, kSingle)) {
        uids.insert(domain->meta.uid);
      }
      return uids;
    }
    default:
      return {};
  }
}

std::vector<Key> keys_of(const core::World& world) {
  std::vector<Key> keys{domain_key(world.view.uid)};
  for (const core::ImexGroupKey& group : groups_in(world)) keys.push_back(group_key(group));
  return keys;
}

core::Plan plan_of(const Sources& from, const Key& key) {
  switch (key.kind) {
    case Key::Kind::Domain:
      return core::reconcile(gather_domain(from, key.id));
    case Key::Kind::Group:
      return core::reconcile_group(gather_groups(from, key.id), {key.id, key.clique});
    case Key::Kind::Clique:
      return core::reconcile_clique(gather_clique(from, key.id));
    case Key::Kind::Report:
      return core::reconcile_report(gather_report(from, key.id));
    case Key::Kind::Label:
      return core::reconcile_label(gather_label(from, key.id));
    case Key::Kind::AgentLabel:
      return core::reconcile_agent_label(gather_agent_label(from, key.id));
    case Key::Kind::Workloads:
      return core::reconcile_workloads(gather_workloads(from, key.id));
    case Key::Kind::Placement:
      return core::place(gather_placement(from)).plan;
    case Key::Kind::SharedSlice:
      return core::reconcile_shared_slice(gather_shared_slice(from, key.id));
    case Key::Kind::CliqueObjects:
      return core::reconcile_clique_objects(gather_clique_objects(from, key.id));
  }
  return {};
}

}  // namespace cdom::controller
