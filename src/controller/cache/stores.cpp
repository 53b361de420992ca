#include "compute_domain/controller/stores.h"

#include <algorithm>
#include <initializer_list>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/node_pause.h"
#include "compute_domain/core/reasons.h"
#include "compute_domain/core/reconcile.h"
#include "compute_domain/core/reservations.h"
#include "compute_domain/core/status.h"
#include "compute_domain/core/templates.h"
#include "compute_domain/core/workloads.h"

namespace cdom::controller {

namespace {

std::vector<std::string> one_of(std::string value) {
  if (value.empty()) return {};
  return {std::move(value)};
}

// The longest name that Kubernetes gives an object.
constexpr std::size_t kLongestName = 253;
constexpr std::size_t kLongestNumber = 20;  // in decimal digits

// A claim of an automatic domain keeps the one configuration that says how the domain is to be;
// nobody reads the others again.
void keep_one_config(api::ResourceClaim& claim) {
  std::vector<api::OpaqueConfig> kept;
  const api::OpaqueConfig* config = core::config_of_driver(claim);
  const bool is_read = claim.domain_ref->kind == core::DomainRef::Kind::Automatic;
  if (is_read && config != nullptr) kept = {*config};
  claim.spec.configs.clear();
  if (claim.allocation) claim.allocation->configs.clear();
  (claim.allocation ? claim.allocation->configs : claim.spec.configs) = std::move(kept);
}

template <class T>
std::vector<std::string> domain_label(const T& object) {
  return one_of(object.meta.label(api::kDomainLabel));
}

// Users write the labels of their objects, and nothing bounds how many.
void keep_labels(api::ObjectMeta& meta, std::initializer_list<std::string_view> read) {
  std::erase_if(meta.labels, [&](const auto& label) {
    return std::ranges::find(read, label.first) == read.end();
  });
}

bool is_unnamed(const api::ResourceClaim& claim) {
  const core::DomainRef::Kind kind = core::domain_ref_of(claim).kind;
  return kind != core::DomainRef::Kind::None && kind != core::DomainRef::Kind::Named;
}

}  // namespace

bool is_read_by_many(const core::StoredList& stored) {
  return stored.reservations || core::is_of_clique(stored.meta);
}

bool is_read_by_many(const api::ComputeDomain& domain) {
  return domain.meta.is_deleting() || domain.spec.workload || api::wants_one_clique(domain) ||
         core::tells_of_seats(domain);
}

std::string workload_in(const std::string& ns, const std::string& id) {
  return base::cat(ns, "/", id);
}

std::set<std::string> cliques_of_devices(const api::ResourceSlice& slice) {
  std::set<std::string> cliques;
  if (slice.node.empty()) return cliques;
  for (const api::Device& device : slice.devices) {
    const auto it = device.attributes.find(api::kAttributeClique);
    if (it == device.attributes.end()) continue;
    if (const auto* clique = std::get_if<std::string>(&it->second)) cliques.insert(*clique);
  }
  return cliques;
}

template <>
kube::Store<api::ComputeDomain>::Indexes indexes_of<api::ComputeDomain>() {
  return {{kByUid, [](const api::ComputeDomain& domain) { return one_of(domain.meta.uid); }},
          {kByTemplate,
           [](const api::ComputeDomain& domain) {
             if (!domain.spec.channel) return std::vector<std::string>{};
             return one_of(api::to_string(
                 api::ObjectName{domain.meta.ns, domain.spec.channel->template_name}));
           }},
          {kByNamespace, [](const api::ComputeDomain& domain) { return one_of(domain.meta.ns); }},
          {kWithPodsIn,
           [](const api::ComputeDomain& domain) {
             return one_of(domain.spec.workload || domain.meta.is_deleting() ? domain.meta.ns : "");
           }},
          {kByPlacement,
           [](const api::ComputeDomain& domain) {
             return one_of(api::wants_one_clique(domain) ? kSingle : "");
           }},
          {kByWaiting,
           [](const api::ComputeDomain& domain) {
             return one_of(core::tells_of_seats(domain) ? kForSeats : "");
           }},
          {kByDeletion,
           [](const api::ComputeDomain& domain) {
             return one_of(domain.meta.is_deleting() ? kDeleting : "");
           }},
          {kByWorkload, [](const api::ComputeDomain& domain) {
             if (!domain.spec.workload) return std::vector<std::string>{};
             const std::string id = domain.meta.label(api::kWorkloadLabel);
             return one_of(id.empty() ? "" : workload_in(domain.meta.ns, id));
           }}};
}

template <>
kube::Store<api::ResourceClaim>::Indexes indexes_of<api::ResourceClaim>() {
  return {{kByDomain,
           [](const api::ResourceClaim& claim) -> std::vector<std::string> {
             return one_of(core::domain_of(claim).value_or(""));
           }},
          {kUnnamedIn,
           [](const api::ResourceClaim& claim) {
             return one_of(is_unnamed(claim) ? claim.meta.ns : "");
           }},
          {kUnnamedByUid,
           [](const api::ResourceClaim& claim) {
             return one_of(is_unnamed(claim) ? claim.meta.uid : "");
           }},
          {kByNode, [](const api::ResourceClaim& claim) { return core::nodes_of(claim); }},
          {kByShared, [](const api::ResourceClaim& claim) {
             return one_of(core::is_shared(claim) ? kIsShared : "");
           }}};
}

template <>
kube::Store<api::ResourceClaimTemplate>::Indexes indexes_of<api::ResourceClaimTemplate>() {
  return {{kByDomain, domain_label<api::ResourceClaimTemplate>}};
}

template <>
kube::Store<core::StoredList>::Indexes indexes_of<core::StoredList>() {
  return {{kByDomain,
           [](const core::StoredList& stored) -> std::vector<std::string> {
             if (!core::is_of_clique(stored.meta)) return domain_label(stored);
             std::vector<std::string> domains;
             if (!stored.list) return domains;
             for (const auto& channel : stored.list->channels) {
               if (channel.release == 0) domains.push_back(channel.domain_uid);
             }
             return domains;
           }},
          {kByNode, [](const core::StoredList& stored) {
             std::vector<std::string> nodes;
             if (!stored.list) return nodes;
             for (const auto& entry : stored.list->entries) nodes.push_back(entry.node);
             return nodes;
           }}};
}

template <>
kube::Store<api::ComputeDomainNode>::Indexes indexes_of<api::ComputeDomainNode>() {
  return {{kByClique, [](const api::ComputeDomainNode& report) {
             const bool by_channel = report.status.isolation == api::Isolation::Channel;
             return one_of(by_channel ? report.status.clique : "");
           }}};
}

template <>
kube::Store<api::ResourceSlice>::Indexes indexes_of<api::ResourceSlice>() {
  return {{kByNode, [](const api::ResourceSlice& slice) { return one_of(slice.node); }},
          {kByClique, [](const api::ResourceSlice& slice) {
             const std::set<std::string> cliques = cliques_of_devices(slice);
             return std::vector<std::string>(cliques.begin(), cliques.end());
           }}};
}

template <>
kube::Store<api::Pod>::Indexes indexes_of<api::Pod>() {
  return {{kByNode, [](const api::Pod& pod) { return one_of(pod.node); }}};
}

template <>
kube::Store<api::ComputeDomainClique>::Indexes indexes_of<api::ComputeDomainClique>() {
  return {{kByDomain, [](const api::ComputeDomainClique& object) {
             return one_of(core::domain_of_clique_object(object.meta.name));
           }}};
}

void trim_meta(api::ObjectMeta& meta) {
  meta.labels.clear();
  meta.annotations.clear();
  meta.finalizers = {};
  meta.owners = {};
}

void trim(api::ComputeDomain& domain) {
  domain.meta.annotations.clear();
  keep_labels(domain.meta, {api::kWorkloadLabel});
  // Those of an automatic domain are written back with more.
  if (!domain.spec.workload) domain.meta.owners = {};
  core::bound_owners(domain.meta);
  // What the CRD says of a domain as long as nobody has written its status. Nodes beside it are of
  // another driver, which writes no conditions.
  if (!domain.status) return;
  auto& conditions = domain.status->conditions;
  // They have grown while they were read, and have room for almost as many more.
  domain.status->nodes.shrink_to_fit();
  conditions.shrink_to_fit();
  const auto* ready = api::find_condition(conditions, core::kConditionReady);
  if (ready == nullptr || ready->reason != core::Reason("WaitingForController").name()) return;
  if (domain.status->nodes.empty()) {
    domain.status.reset();
  } else {
    conditions.clear();
  }
}

void trim(api::ResourceClaim& claim) {
  using Kind = core::DomainRef::Kind;
  // Before its configurations go: each of them may be long, and is looked at for every event.
  claim.domain_ref = core::domain_ref_of(claim);
  const Kind kind = claim.domain_ref->kind;
  if (is_unnamed(claim)) {
    // Which pod it is for.
    const std::string name = claim.meta.annotation(api::kPodClaimAnnotation);
    std::vector<api::OwnerReference> owners = std::move(claim.meta.owners);
    std::erase_if(owners, [](const api::OwnerReference& owner) {
      return owner.kind != "Pod" || owner.api_version != "v1";
    });
    if (owners.size() > 1) owners.resize(1);
    trim_meta(claim.meta);
    claim.meta.owners = std::move(owners);
    core::bound_owners(claim.meta);
    if (!name.empty() && name.size() <= kLongestName) {
      claim.meta.annotations[api::kPodClaimAnnotation] = name;
    }
  } else {
    trim_meta(claim.meta);
  }
  if (kind == Kind::None) {
    claim.spec = {};
    // A claim that names no domain may still have a seat of this driver, which is not free then.
    if (!core::takes_seat(claim)) claim.allocation.reset();
    claim.reserved_for.clear();
  } else if (claim.allocation) {
    // From now on the allocation says which domain is meant.
    claim.spec = {};
  } else {
    core::keep_asked_clique(claim.spec);
  }
  keep_one_config(claim);
}

void trim(api::ResourceClaimTemplate& object) {
  const std::string generation = object.meta.annotation(api::kPlacementGeneration);
  object.meta.annotations.clear();
  const bool may_be_number = !generation.empty() && generation.size() <= kLongestNumber;
  if (may_be_number) object.meta.annotations[api::kPlacementGeneration] = generation;
  keep_labels(object.meta, {api::kDomainLabel, api::kTargetLabel});
  // Of those that are no ComputeDomains it is only asked whether there are any, and for the first.
  std::stable_partition(object.meta.owners.begin(), object.meta.owners.end(), core::is_domain);
  core::bound_owners(object.meta);
  // Those of NVIDIA's DRA driver are written back without its own.
  if (!object.meta.has_finalizer(api::kDomainFinalizer)) object.meta.finalizers = {};
  object.claim_labels.clear();
  // A template of ours keeps the clique that its claims ask for.
  if (!core::placement_of(object)) object.spec = {};
  core::keep_asked_clique(object.spec);
  object.spec.configs = {};
}

template <>
core::StoredList stored(api::ConfigMap map) {
  map.meta.annotations.clear();
  return core::stored_list(map);
}

void trim(api::ComputeDomainNode& report) {
  std::erase_if(report.meta.annotations, [](const auto& entry) {
    return entry.first != api::kFencedAnnotation && entry.first != api::kPauseAnnotation;
  });
  auto kept = std::move(report.meta.annotations);
  trim_meta(report.meta);
  report.meta.annotations = std::move(kept);
  // What is for people alone.
  report.status.summary = {};
  for (api::ImexGroupReport& group : report.status.groups) group.domains = {};
  // Its JSON is for who writes a condition back; that is the agent.
  for (api::Condition& condition : report.status.conditions) condition.text = {};
}

void trim(api::ResourceSlice& slice) {
  trim_meta(slice.meta);
  // That of a clique is compared with what it is to be.
  if (slice.node.empty()) return;
  for (api::Device& device : slice.devices) {
    std::erase_if(device.attributes, [](const auto& attribute) {
      return attribute.first != api::kAttributeType && attribute.first != api::kAttributeId &&
             attribute.first != api::kAttributeClique;
    });
  }
}

void trim(api::Node& node) {
  std::erase_if(node.meta.labels, [](const auto& label) {
    return label.first != api::kNodeCliqueLabel && label.first != api::kAgentNodeLabel &&
           !core::tells_of_gpus(label.first, label.second) &&
           !core::tells_of_pause(label.first, label.second);
  });
  std::erase_if(node.meta.annotations,
                [](const auto& entry) { return entry.first != api::kNodeCliqueMark; });
  node.meta.finalizers = {};
  node.meta.owners = {};
}

void trim(api::ComputeDomainClique& object) {
  std::erase_if(object.meta.labels, [](const auto& label) {
    return label.first != api::kDomainLabel && label.first != api::kCliqueIdLabel &&
           label.first != api::kManagedByLabel;
  });
  auto labels = std::move(object.meta.labels);
  auto owners = std::move(object.meta.owners);
  trim_meta(object.meta);
  object.meta.labels = std::move(labels);
  object.meta.owners = std::move(owners);
}

}  // namespace cdom::controller
