#include "plugin/facts.h"

#include <algorithm>
#include <set>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/status.h"

namespace cdom::plugin {

namespace {

core::Settings settings_of(const ClusterView& view) {
  core::Settings settings;
  settings.operator_namespace = view.namespaces.operators;
  return settings;
}

template <class T>
const T* find_named(const std::vector<T>& objects, const api::ObjectName& name) {
  const auto it = std::ranges::find_if(
      objects, [&](const T& object) { return api::name_of(object.meta) == name; });
  return it == objects.end() ? nullptr : &*it;
}

api::Pod agent_pod_of(const api::PodState& pod) {
  api::Pod out;
  out.meta = pod.meta;
  out.node = pod.node;
  out.phase = pod.phase;
  if (const api::PodCondition* ready = pod.condition("Ready")) {
    out.ready = ready->status == api::ConditionStatus::True;
    out.ready_changed = ready->since;
  }
  return out;
}

core::PodFacts facts_of_pod(const api::PodState& pod) {
  core::PodFacts facts{
      .meta = pod.meta, .templates = std::map<std::string, std::string>(), .node = pod.node};
  for (const api::PodClaimRef& claim : pod.claims) {
    facts.templates->emplace(claim.name, claim.template_name);
  }
  return facts;
}

}  // namespace

const api::Condition* DomainFacts::condition(std::string_view type) const {
  return status ? api::find_condition(status->conditions, type) : nullptr;
}

const core::MemberView* DomainFacts::member(const std::string& node) const {
  const auto it = std::ranges::find_if(readiness.members, [&](const core::MemberView& member) {
    return member.membership.node == node;
  });
  return it == readiness.members.end() ? nullptr : &*it;
}

base::Error no_such_domain(const ClusterView& view, const api::ObjectName& name) {
  std::vector<std::string> names;
  for (const api::ComputeDomain& domain : view.domains) {
    if (domain.meta.ns == name.ns) names.push_back(domain.meta.name);
  }
  return {
      base::ErrorKind::NotFound,
      base::cat("there is no ComputeDomain ", name.name, " in namespace ", name.ns,
                names.empty() ? "" : base::cat("; those there are: ", base::list_names(names)))};
}

bool is_agent(const ClusterView& view, const api::PodState& pod) {
  return pod.meta.ns == view.namespaces.nodes &&
         pod.meta.label(api::kAgentAppLabel) == api::kAgentApp;
}

Facts::Facts(const ClusterView& view)
    : view_(view), clock_(view.taken), cluster_(settings_of(view), clock_) {
  const auto put = [this]<class T>(const std::vector<T>& objects) {
    for (const T& object : objects) cluster_.put<T>(controller::stored(object));
  };
  put(view.domains);
  put(view.claims);
  put(view.templates);
  put(view.lists);
  put(view.reports);
  put(view.nodes);
  put(view.slices);
  for (const api::PodState& pod : view.pods) {
    if (is_agent(view, pod)) cluster_.put<api::Pod>(agent_pod_of(pod));
    cluster_.put_pod(facts_of_pod(pod));
  }
  cluster_.learn_agents();
  cluster_.learn_workloads();
}

const api::ComputeDomain* Facts::domain(const api::ObjectName& name) const {
  return find_named(view_.domains, name);
}
const api::ComputeDomain* Facts::domain_of_uid(const std::string& uid) const {
  const auto it = std::ranges::find(view_.domains, uid, [](const auto& d) { return d.meta.uid; });
  return it == view_.domains.end() ? nullptr : &*it;
}
const api::ComputeDomain* Facts::maker_of(const api::ObjectName& template_name) const {
  const auto it = std::ranges::find_if(view_.domains, [&](const api::ComputeDomain& domain) {
    return domain.meta.ns == template_name.ns && domain.spec.channel &&
           domain.spec.channel->template_name == template_name.name;
  });
  return it == view_.domains.end() ? nullptr : &*it;
}
const api::ResourceClaimTemplate* Facts::claim_template(const api::ObjectName& name) const {
  return find_named(view_.templates, name);
}
const api::PodState* Facts::pod(const api::ObjectName& name) const {
  return find_named(view_.pods, name);
}
const api::ResourceClaim* Facts::claim(const api::ObjectName& name) const {
  return find_named(view_.claims, name);
}
const api::ComputeDomainNode* Facts::report(const std::string& node) const {
  return find_named(view_.reports, {"", node});
}
const api::Node* Facts::node(const std::string& name) const {
  return find_named(view_.nodes, {"", name});
}

DomainFacts Facts::facts_of(const api::ComputeDomain& domain) const {
  DomainFacts facts{.object = &domain,
                    .world = controller::gather_domain(cluster_.sources(), domain.meta.uid),
                    .readiness = {},
                    .status = {}};
  const core::World& world = facts.world;
  facts.readiness =
      core::readiness_of(world, core::memberships_of(world.view, world.nodes, world.lists));
  // In the stores it is without the status that the CRD gives to one that nobody has seen.
  if (world.view.domain) facts.status = world.view.domain->status;
  for (const core::Action& action : core::reconcile(world).actions) {
    if (const auto* set = std::get_if<core::SetStatus>(&action); set != nullptr && facts.status) {
      facts.status = set->status;
    }
  }
  return facts;
}

const api::ComputeDomain* Facts::domain_of(const api::ResourceClaim& claim) const {
  const core::DomainRef ref = core::domain_ref_of(claim);
  if (ref.kind == core::DomainRef::Kind::Named) return domain_of_uid(ref.uid);
  if (ref.kind != core::DomainRef::Kind::Automatic) return nullptr;
  const auto workload = cluster_.sources().workloads.workload_of(claim.meta.uid);
  if (!workload) return nullptr;
  const auto it = std::ranges::find_if(view_.domains, [&](const api::ComputeDomain& domain) {
    return domain.spec.workload && domain.meta.ns == claim.meta.ns &&
           domain.meta.label(api::kWorkloadLabel) == *workload;
  });
  return it == view_.domains.end() ? nullptr : &*it;
}

std::optional<api::Staleness> Facts::doubt_of(const std::string& node) const {
  const api::ComputeDomainNode* found = report(node);
  if (found == nullptr) return std::nullopt;
  const core::Plan plan =
      core::reconcile_report(controller::gather_report(cluster_.sources(), node));
  for (const core::Action& action : plan.actions) {
    if (const auto* mark = std::get_if<core::MarkReport>(&action)) return mark->stale;
  }
  return found->stale;
}

std::vector<const api::ResourceClaim*> Facts::claims_on(const std::string& node) const {
  std::vector<const api::ResourceClaim*> claims;
  for (const auto& stored : controller::claims_on(cluster_.sources(), node)) {
    if (const auto* found = claim(api::name_of(stored->meta))) claims.push_back(found);
  }
  return claims;
}

std::vector<std::string> Facts::domains_on(const std::string& node) const {
  std::set<std::string> names;
  for (const api::ResourceClaim* claim : claims_on(node)) {
    const api::ComputeDomain* domain = domain_of(*claim);
    if (domain != nullptr) names.insert(api::to_string(api::name_of(domain->meta)));
  }
  return {names.begin(), names.end()};
}

std::vector<core::CliqueSeats> Facts::seats() const {
  return controller::seats_by_clique(cluster_.sources());
}
core::SeatCount Facts::seat_count() const { return controller::count_seats(cluster_.sources()); }

std::vector<const api::PodState*> Facts::pods_of(const api::ResourceClaim& claim) const {
  std::vector<const api::PodState*> pods;
  for (const api::PodState& pod : view_.pods) {
    const auto claims = claims_of(pod);
    if (std::ranges::find(claims, &claim) != claims.end()) pods.push_back(&pod);
  }
  return pods;
}

std::vector<const api::ResourceClaim*> Facts::claims_of(const api::PodState& pod) const {
  std::set<std::string> names{pod.extended_claim};
  for (const api::PodClaimRef& ref : pod.claims) names.insert(ref.claim_name);
  for (const api::PodClaimMade& made : pod.made) names.insert(made.claim_name);
  std::vector<const api::ResourceClaim*> claims;
  for (const api::ResourceClaim& claim : view_.claims) {
    if (claim.meta.ns != pod.meta.ns) continue;
    const bool is_owner = std::ranges::find(claim.meta.owners, pod.meta.uid,
                                            &api::OwnerReference::uid) != claim.meta.owners.end();
    if (is_owner || names.contains(claim.meta.name)) claims.push_back(&claim);
  }
  return claims;
}

std::vector<const api::ResourceClaim*> Facts::claims_of(const api::ComputeDomain& domain) const {
  std::vector<const api::ResourceClaim*> claims;
  for (const api::ResourceClaim& claim : view_.claims) {
    if (domain_of(claim) == &domain) claims.push_back(&claim);
  }
  return claims;
}

std::vector<const api::PodState*> Facts::pods_naming(const api::ObjectName& template_name) const {
  std::vector<const api::PodState*> pods;
  for (const api::PodState& pod : view_.pods) {
    const auto it =
        std::ranges::find(pod.claims, template_name.name, &api::PodClaimRef::template_name);
    if (pod.meta.ns == template_name.ns && it != pod.claims.end()) pods.push_back(&pod);
  }
  return pods;
}

std::vector<const api::Occurrence*> Facts::events_on(const std::string& uid) const {
  std::vector<const api::Occurrence*> events;
  for (const api::Occurrence& event : view_.events) {
    if (event.involved.uid == uid) events.push_back(&event);
  }
  return events;
}

}  // namespace cdom::plugin
