#include "plugin/facts.h"

#include <algorithm>
#include <set>

#include "compute_domain/api/names.h"
#include "compute_domain/base/ranges.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/reasons.h"
#include "compute_domain/core/slots.h"
#include "compute_domain/core/status.h"

namespace cdom::plugin {

namespace {

core::Settings settings_of(const ClusterView& view) {
  core::Settings settings;
  settings.operator_namespace = view.namespaces.operators;
  return settings;
}

// No reader asks which they are.
constexpr char kSomeNamespace[] = "of-the-predecessor";

bool has_written(const api::ComputeDomain& domain, const char* type, core::Reason reason) {
  const api::Condition* condition =
      domain.status ? api::find_condition(domain.status->conditions, type) : nullptr;
  return condition != nullptr && condition->reason == reason.name();
}

// How many channels nodes have, by a node for which the controller found none left; where it has
// not said so there is one more.
std::int64_t written_channels(const core::World& world, const api::ComputeDomain& domain) {
  std::int64_t channels = base::kRangesEnd;
  if (!domain.status) return channels;
  for (const api::ComputeDomainNodeStatus& node : domain.status->nodes) {
    if (node.reason != core::MemberState("ChannelsUsedUp").name()) continue;
    const api::NodeList* list = core::find_list(world.lists, core::group_id({"", node.clique}));
    if (list != nullptr) channels = std::ssize(list->channels) + 1;
  }
  return channels;
}

// With what the controller has been started only it knows: --adopt-from and --imex-channels. What
// follows of them it has written, and until then nothing is said of it.
void believe_what_is_written(core::World& world) {
  const api::ComputeDomain& domain = *world.view.domain;
  world.settings.channels = written_channels(world, domain);
  if (!has_written(domain, core::kConditionTemplate, "TemplateNameTaken")) {
    world.settings.adopt_from = {kSomeNamespace};
  }
  world.view.has_predecessor =
      has_written(domain, core::kConditionReady, core::kServedByPredecessor);
}

template <class Map, class Key>
auto find_in(const Map& map, const Key& key) -> typename Map::mapped_type {
  const auto it = map.find(key);
  return it == map.end() ? typename Map::mapped_type{} : it->second;
}

// The first of several with one name.
template <class Map, class T>
void add_names(Map& by_name, const std::vector<T>& objects) {
  for (const T& object : objects) {
    by_name.try_emplace({object.meta.ns, object.meta.name}, &object);
  }
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
  // What the API server refuses to the controller nobody else can work out.
  const auto& shown = type == core::kConditionWrites ? object->status : status;
  return shown ? api::find_condition(shown->conditions, type) : nullptr;
}

const core::MemberView* DomainFacts::member(const std::string& node) const {
  const auto it = std::ranges::find_if(readiness.members, [&](const core::MemberView& member) {
    return member.membership.node == node;
  });
  return it == readiness.members.end() ? nullptr : &*it;
}

base::Error no_such_domain(const ClusterView& view, const api::ObjectName& name) {
  if (const std::string problem = unreadable_in<api::ComputeDomain>(view, name); !problem.empty()) {
    return base::invalid(base::cat("ComputeDomain ", name.name, " in namespace ", name.ns,
                                   " cannot be read: ", problem));
  }
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
  put_into_stores();
  index();
}

void Facts::put_into_stores() {
  const auto put = [this]<class T>(const std::vector<T>& objects) {
    for (const T& object : objects) cluster_.put<T>(controller::stored(object));
  };
  put(view_.domains);
  put(view_.claims);
  put(view_.templates);
  put(view_.lists);
  put(view_.reports);
  put(view_.nodes);
  put(view_.slices);
  for (const api::PodState& pod : view_.pods) {
    if (is_agent(view_, pod)) cluster_.put<api::Pod>(agent_pod_of(pod));
    cluster_.put_pod(facts_of_pod(pod));
  }
  cluster_.learn_agents();
  cluster_.learn_workloads();
}

void Facts::index() {
  add_names(domains_, view_.domains);
  add_names(templates_, view_.templates);
  add_names(pods_, view_.pods);
  add_names(claims_, view_.claims);
  add_names(reports_, view_.reports);
  add_names(nodes_, view_.nodes);
  for (const api::ComputeDomain& domain : view_.domains) {
    domains_by_uid_.try_emplace(domain.meta.uid, &domain);
    if (!domain.spec.channel) continue;
    makers_.try_emplace({domain.meta.ns, domain.spec.channel->template_name}, &domain);
  }
  for (const api::ResourceSlice& slice : view_.slices) {
    devices_[slice.node] += std::ssize(slice.devices);
  }
  for (const api::ResourceClaim& claim : view_.claims) {
    std::set<std::string> owners;
    for (const api::OwnerReference& owner : claim.meta.owners) owners.insert(owner.uid);
    for (const std::string& owner : owners) claims_by_owner_[owner].push_back(&claim);
    if (const auto* domain = domain_of(claim)) claims_of_domains_[domain].push_back(&claim);
  }
  for (const api::PodState& pod : view_.pods) {
    std::set<std::string> templates;
    for (const api::PodClaimRef& ref : pod.claims) templates.insert(ref.template_name);
    for (const std::string& name : templates) {
      pods_by_template_[{pod.meta.ns, name}].push_back(&pod);
    }
    for (const api::ResourceClaim* claim : claims_of(pod)) pods_of_claims_[claim].push_back(&pod);
  }
  for (const api::Occurrence& event : view_.events) events_[event.involved.uid].push_back(&event);
}

const api::ComputeDomain* Facts::domain(const api::ObjectName& name) const {
  return find_in(domains_, Name{name.ns, name.name});
}
const api::ComputeDomain* Facts::domain_of_uid(const std::string& uid) const {
  return find_in(domains_by_uid_, uid);
}
const api::ComputeDomain* Facts::maker_of(const api::ObjectName& template_name) const {
  return find_in(makers_, Name{template_name.ns, template_name.name});
}
const api::ResourceClaimTemplate* Facts::claim_template(const api::ObjectName& name) const {
  return find_in(templates_, Name{name.ns, name.name});
}
const api::PodState* Facts::pod(const api::ObjectName& name) const {
  return find_in(pods_, Name{name.ns, name.name});
}
const api::ResourceClaim* Facts::claim(const api::ObjectName& name) const {
  return find_in(claims_, Name{name.ns, name.name});
}
const api::ComputeDomainNode* Facts::report(const std::string& node) const {
  return find_in(reports_, Name{"", node});
}
const api::Node* Facts::node(const std::string& name) const {
  return find_in(nodes_, Name{"", name});
}

DomainFacts Facts::facts_of(const api::ComputeDomain& domain) const {
  DomainFacts facts{.object = &domain,
                    .world = controller::gather_domain(cluster_.sources(), domain.meta.uid),
                    .readiness = {},
                    .status = {}};
  core::World& world = facts.world;
  if (world.view.domain) believe_what_is_written(world);
  // Of what the reference driver's daemons do no node reports.
  if (!world.view.has_predecessor) {
    facts.readiness =
        core::readiness_of(world, core::memberships_of(world.view, world.nodes, world.lists));
  }
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

std::int64_t Facts::devices_on(const std::string& node) const { return find_in(devices_, node); }

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
  return find_in(pods_of_claims_, &claim);
}

std::vector<const api::ResourceClaim*> Facts::claims_of(const api::PodState& pod) const {
  std::set<std::string> names{pod.extended_claim};
  for (const api::PodClaimRef& ref : pod.claims) names.insert(ref.claim_name);
  for (const api::PodClaimMade& made : pod.made) names.insert(made.claim_name);
  std::set<const api::ResourceClaim*> claims;  // of one vector, so in its order
  for (const std::string& name : names) {
    if (const auto* found = claim({pod.meta.ns, name})) claims.insert(found);
  }
  for (const api::ResourceClaim* owned : find_in(claims_by_owner_, pod.meta.uid)) {
    if (owned->meta.ns == pod.meta.ns) claims.insert(owned);
  }
  return {claims.begin(), claims.end()};
}

std::vector<const api::ResourceClaim*> Facts::claims_of(const api::ComputeDomain& domain) const {
  return find_in(claims_of_domains_, &domain);
}

bool Facts::is_for_another_driver(const api::PodState& pod, const api::PodClaimRef& ref) const {
  const std::string& ns = pod.meta.ns;
  if (!ref.claim_name.empty()) return is_of_others<api::ResourceClaim>(view_, {ns, ref.claim_name});
  // One that has the name that a ComputeDomain's should have is in its way.
  return is_of_others<api::ResourceClaimTemplate>(view_, {ns, ref.template_name}) &&
         maker_of({ns, ref.template_name}) == nullptr;
}

std::vector<const api::PodState*> Facts::pods_naming(const api::ObjectName& template_name) const {
  return find_in(pods_by_template_, Name{template_name.ns, template_name.name});
}

std::vector<const api::Occurrence*> Facts::events_on(const std::string& uid) const {
  return find_in(events_, uid);
}

bool leads_to_one_of(const api::PodState& pod, const api::PodClaimRef& ref,
                     const std::vector<const api::ResourceClaim*>& claims) {
  return std::ranges::any_of(claims, [&](const api::ResourceClaim* claim) {
    if (!ref.claim_name.empty()) return ref.claim_name == claim->meta.name;
    return std::ranges::find(pod.made, api::PodClaimMade{ref.name, claim->meta.name}) !=
           pod.made.end();
  });
}

}  // namespace cdom::plugin
