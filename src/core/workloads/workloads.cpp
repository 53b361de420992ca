#include "compute_domain/core/workloads.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "compute_domain/api/domain_config.h"
#include "compute_domain/api/kind.h"
#include "compute_domain/api/names.h"
#include "compute_domain/base/digest.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/claim_config.h"
#include "compute_domain/core/status.h"
#include "core/pace.h"

namespace cdom::core {

namespace {

using base::cat;
using namespace std::chrono_literals;

// Pods and their claims come in batches: they are read when none has come for this long, and no
// later than so long after the first.
constexpr base::Duration kBatchSettles = 20ms;
constexpr base::Duration kBatchPatience = 100ms;
// Between two reads of one namespace of which the first found no new workload, and at most, as long
// as they tell nothing.
constexpr base::Duration kReadInterval = 1s;
constexpr int kMostDoublings = 6;
// A claim is reserved for a pod a moment before the pod gets its node; others wait for that node.
constexpr base::Duration kBindingSettles = 50ms;
constexpr base::Duration kBindingPatience = 250ms;
constexpr int kMostDoublingsForNodes = 3;

// The requests of one plan, and its Events. Keys of other namespaces wait for the worker that
// carries them out.
constexpr std::size_t kMostAtOnce = 32;

// The part of a name before the hash, short enough for a name in Kubernetes.
constexpr std::size_t kLongestStem = 52;
constexpr std::size_t kHashDigits = 8;

const api::OwnerReference* controller_of(const api::ObjectMeta& meta) {
  const auto it = std::ranges::find_if(meta.owners, &api::OwnerReference::controller);
  return it == meta.owners.end() ? nullptr : &*it;
}

// The same owner without `controller`: an object may have only one controller.
std::optional<api::OwnerReference> owner_like(const api::OwnerReference* controller) {
  if (controller == nullptr) return std::nullopt;
  api::OwnerReference owner = *controller;
  owner.controller = false;
  return owner;
}

api::OwnerReference job_set_of(const api::ObjectMeta& pod) {
  return {.api_version = "jobset.x-k8s.io/v1alpha2",
          .kind = "JobSet",
          .name = pod.label(api::kJobSetNameLabel),
          .uid = pod.label(api::kJobSetUidLabel)};
}

// A name may be a label's value: what is not allowed in an object's name becomes '-'. There each
// part between dots begins and ends with a letter or a digit.
std::string stem_of(const std::string& name) {
  std::string stem;
  const auto ends_with_dash = [&] { return stem.ends_with('-'); };
  for (const char c : base::to_lower(name).substr(0, kLongestStem)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      stem += c;
      continue;
    }
    while (c == '.' && ends_with_dash()) stem.pop_back();
    if (!stem.empty() && !stem.ends_with('.')) stem += c == '.' ? '.' : '-';
  }
  while (ends_with_dash() || stem.ends_with('.')) stem.pop_back();
  return stem.empty() ? "domain" : stem;
}

std::string domain_name(const api::Workload& workload, const std::string& id) {
  return cat(stem_of(workload.name), "-", id.substr(0, kHashDigits));
}

base::Result<api::DomainConfig> config_of(const api::ResourceClaim& claim) {
  const api::OpaqueConfig* config = config_of_driver(claim);
  if (config == nullptr) return api::DomainConfig{};
  return api::decode_domain_config(config->parameters);
}

void tell(const AutomaticClaim& claim, Reason reason, std::string message, Plan& plan) {
  if (claim.is_reported) return;
  plan.actions.emplace_back(event_on(reference_to(claim.object), reason, std::move(message)));
}

// An owner that labels name, and the Jobs that may prove it, by UID.
struct NamedOwner {
  api::OwnerReference owner;
  std::map<std::string, api::OwnerReference> witnesses;
};

struct Work {
  api::Workload workload;
  std::map<std::string, api::OwnerReference> owners;  // by UID
  std::map<std::string, NamedOwner> named_owners;     // the same of those that are not proved
  std::int64_t num_nodes = 0;                         // by their configs
  std::optional<api::ComputeDomainPlacement> placement;
  std::vector<const AutomaticClaim*> claims;
};

// Claims by their workload; those that cannot be used get an Event that says why.
std::map<std::string, Work> works_of(const WorkloadsWorld& world, Plan& plan) {
  std::vector<const AutomaticClaim*> claims;
  claims.reserve(world.claims.size());
  for (const AutomaticClaim& claim : world.claims) claims.push_back(&claim);
  std::ranges::sort(claims, {}, [](const AutomaticClaim* claim) {
    return std::tie(claim->object.meta.name, claim->object.meta.uid);
  });
  std::map<std::string, Work> works;
  for (const AutomaticClaim* claim : claims) {
    if (has_admin_access(claim->object) || claim->object.meta.is_deleting()) continue;
    const DomainRef ref = domain_ref_of(claim->object);
    if (ref.kind == DomainRef::Kind::Contradictory) {
      tell(*claim, "ContradictoryConfig",
           "has a configuration that names a ComputeDomain (domainID) and a ComputeDomainConfig, "
           "which asks for one of its workload's own: leave one of them out of the "
           "ResourceClaimTemplate, and create the pod again",
           plan);
      continue;
    }
    if (ref.kind == DomainRef::Kind::Invalid) {
      tell(*claim, "InvalidConfig",
           cat("domainID \"", ref.uid,
               "\" is not the UID of a ComputeDomain: use the ResourceClaimTemplate that the "
               "ComputeDomain names in spec.channel, and create the pod again"),
           plan);
      continue;
    }
    const auto config = config_of(claim->object);
    if (!config) {
      tell(*claim, "InvalidConfig",
           cat("its configuration for ", api::kDriver, " cannot be used: ", config.error().message,
               "; ", config_remedy(claim->object)),
           plan);
      continue;
    }
    if (!claim->workload) continue;
    const OwnedWorkload& owned = *claim->workload;
    Work& work = works[workload_id(world.ns, owned.workload)];
    work.workload = owned.workload;
    if (owned.owner && owned.witness) {
      NamedOwner& named = work.named_owners[owned.owner->uid];
      named.owner = *owned.owner;
      named.witnesses.emplace(owned.witness->uid, *owned.witness);
    } else if (owned.owner) {
      work.owners.emplace(owned.owner->uid, *owned.owner);
    }
    work.num_nodes = std::max(work.num_nodes, config->num_nodes);
    if (config->placement) work.placement = config->placement;
    work.claims.push_back(claim);
  }
  return works;
}

// The domains of the namespace, by what they are looked for: there may be thousands, and as many
// workloads.
class KnownDomains {
 public:
  explicit KnownDomains(const WorkloadsWorld& world) {
    for (const api::ComputeDomain& domain : world.domains) {
      names_.insert(domain.meta.name);
      if (domain.spec.workload) of_.emplace(domain.meta.label(api::kWorkloadLabel), &domain);
    }
  }
  // The domain of the workload with this id, or null.
  [[nodiscard]] const api::ComputeDomain* of(const std::string& id) const {
    const auto it = of_.find(id);
    return it == of_.end() ? nullptr : it->second;
  }
  [[nodiscard]] bool have_name(const std::string& name) const { return names_.contains(name); }

 private:
  std::unordered_map<std::string, const api::ComputeDomain*> of_;
  std::unordered_set<std::string> names_;
};

// Whether a domain may be made for it by what has been read.
bool is_alive(const WorkloadsWorld& world, const AutomaticClaim& claim) {
  if (!pod_of(claim.object)) return true;
  if (!claim.pod_seen || !claim.workload) return false;
  const auto seen = world.domains_seen.find(workload_id(world.ns, claim.workload->workload));
  return seen == world.domains_seen.end() || *claim.pod_seen > seen->second;
}

bool needs_read(const WorkloadsWorld& world, const KnownDomains& domains,
                const AutomaticClaim& claim) {
  if (domain_ref_of(claim.object).kind != DomainRef::Kind::Automatic) return false;
  if (!claim.is_settled) return true;
  return claim.workload && !is_alive(world, claim) && !claim.object.meta.is_deleting() &&
         domains.of(workload_id(world.ns, claim.workload->workload)) == nullptr;
}

// No sooner than the last read allows.
base::Duration paced(const WorkloadsWorld& world, base::Duration due, int most_doublings) {
  if (!world.pods_read) return due;
  const int doublings = std::min(world.vain_reads, most_doublings);
  return std::max(due, *world.pods_read + kReadInterval * (1 << doublings));
}

// Claims that were first seen at about the same time.
class Batch {
 public:
  void add(base::Duration seen) {
    first_ = std::min(first_.value_or(seen), seen);
    last_ = std::max(last_.value_or(seen), seen);
  }
  // When it is read, as far as it goes; nullopt: it is empty.
  [[nodiscard]] std::optional<base::Duration> due() const {
    if (!first_) return std::nullopt;
    return std::min(*last_ + kBatchSettles, *first_ + kBatchPatience);
  }

 private:
  std::optional<base::Duration> first_, last_;
};

// When the pods are to be read for what the claims are; nullopt: all that is needed is known.
std::optional<base::Duration> next_read_for_claims(const WorkloadsWorld& world,
                                                   const KnownDomains& domains) {
  Batch all, new_ones;
  for (const AutomaticClaim& claim : world.claims) {
    if (!needs_read(world, domains, claim)) continue;
    // It waits for nothing: the first read has shown that a second one is needed.
    if (claim.lacks_templates && !world.specs_read) return world.now;
    all.add(claim.seen);
    if (world.pods_read && claim.seen > *world.pods_read) new_ones.add(claim.seen);
  }
  if (!all.due()) return std::nullopt;
  const base::Duration due = paced(world, *all.due(), kMostDoublings);
  // They are of pods that came a moment later, or of the next workload, which must not wait for the
  // one before.
  if (world.read_found_workload && new_ones.due()) return std::min(due, *new_ones.due());
  return due;
}

// The same for the nodes of those that share a claim.
std::optional<base::Duration> next_read_for_nodes(const WorkloadsWorld& world) {
  if (world.nodeless_since.empty()) return std::nullopt;
  const auto [first, last] = std::ranges::minmax(world.nodeless_since);
  return paced(world, std::min(last + kBindingSettles, first + kBindingPatience),
               kMostDoublingsForNodes);
}

void add_read(const WorkloadsWorld& world, const KnownDomains& domains, Plan& plan) {
  std::optional<base::Duration> read = next_read_for_claims(world, domains);
  if (const auto for_nodes = next_read_for_nodes(world)) {
    read = std::min(read.value_or(*for_nodes), *for_nodes);
  }
  if (!read) return;
  read = std::max(*read, world.no_read_before.value_or(*read));
  const base::Duration due = std::max(*read - world.now, base::Duration::zero());
  if (due == base::Duration::zero()) {
    const bool with_specs =
        world.specs_read || !world.nodeless_since.empty() ||
        std::ranges::any_of(world.claims, [](const auto& c) { return c.lacks_templates; });
    plan.actions.emplace_back(ReadPods{world.ns, with_specs});
  }
  look_again_after(due, plan);
}

// What follows from it is decided once it has been read.
void read_job(const WorkloadsWorld& world, const std::string& name, const std::string& uid,
              Plan& plan) {
  plan.actions.emplace_back(ReadJob{{world.ns, name}, uid});
}

// How many nodes the domain is made for; nullopt: the Job has to be read first, or is gone.
std::optional<std::int64_t> nodes_for(const WorkloadsWorld& world, const Work& work, Plan& plan) {
  if (work.num_nodes > 0 || work.workload.kind != "Job" || work.owners.empty()) {
    return work.num_nodes;
  }
  if (work.owners.begin()->second.api_version != "batch/v1") return 0;
  const auto known = world.jobs.find(work.workload.uid);
  if (known == world.jobs.end()) {
    read_job(world, work.workload.name, work.workload.uid, plan);
    return std::nullopt;
  }
  if (!known->second) return std::nullopt;
  const api::Job& job = *known->second;
  return std::max<std::int64_t>(
      0, std::min(job.parallelism, job.completions.value_or(job.parallelism)));
}

// The owner as a Job that was read names it: the labels of a pod may be wrong in all but the UID,
// and an owner of another name is one that is gone. Null: no Job that was read has it.
const api::OwnerReference* owner_by_jobs(const WorkloadsWorld& world, const NamedOwner& named) {
  for (const auto& [uid, witness] : named.witnesses) {
    const auto known = world.jobs.find(uid);
    if (known == world.jobs.end() || !known->second) continue;
    const auto& owners = known->second->meta.owners;
    const auto it = std::ranges::find(owners, named.owner.uid, &api::OwnerReference::uid);
    if (it != owners.end()) return &*it;
  }
  return nullptr;
}

// nullopt: a Job has to be read first, that shows whose it is.
std::optional<std::vector<api::OwnerReference>> owners_of(const WorkloadsWorld& world,
                                                          const Work& work, Plan& plan) {
  std::vector<api::OwnerReference> owners;
  for (const auto& [uid, owner] : work.owners) owners.push_back(owner);
  for (const auto& [uid, named] : work.named_owners) {
    if (const auto owner = owner_like(owner_by_jobs(world, named))) {
      owners.push_back(*owner);
      continue;
    }
    for (const auto& [job, witness] : named.witnesses) {
      if (world.jobs.contains(job)) continue;
      read_job(world, witness.name, witness.uid, plan);
      return std::nullopt;
    }
  }
  return owners;
}

// The workload with its owner's name, when Jobs that were read show that owner.
api::Workload named_workload(const WorkloadsWorld& world, const Work& work) {
  api::Workload workload = work.workload;
  const auto named = work.named_owners.find(workload.uid);
  if (named == work.named_owners.end()) return workload;
  if (const auto* owner = owner_by_jobs(world, named->second)) workload.name = owner->name;
  return workload;
}

// Whether its creation was refused, and is not tried again yet. Its pods wait, and get one Event.
bool is_put_off(const WorkloadsWorld& world, const std::string& id, const std::string& name,
                const Work& work, Plan& plan) {
  const auto refused = world.refusals.find(id);
  if (refused == world.refusals.end()) return false;
  const DomainRefusal& refusal = refused->second;
  for (const AutomaticClaim* claim : work.claims) {
    if (!refusal.lasts) break;
    tell(*claim, "ComputeDomainRefused",
         cat("the API server refuses ComputeDomain ", world.ns, "/", name, " for ",
             api::to_string(work.workload), ": ", refusal.why,
             "; it is created once what forbids it is gone"),
         plan);
  }
  if (refusal.next_try <= world.now) return false;
  look_again_after(refusal.next_try - world.now, plan);
  return true;
}

void create_domain(const WorkloadsWorld& world, const KnownDomains& domains, const std::string& id,
                   const Work& work, Plan& plan) {
  api::ComputeDomain object;
  const api::Workload workload = named_workload(world, work);
  object.meta.name = domain_name(workload, id);
  object.meta.ns = world.ns;
  if (domains.have_name(object.meta.name)) {
    for (const AutomaticClaim* claim : work.claims) {
      tell(*claim, "ComputeDomainNameTaken",
           cat("ComputeDomain ", world.ns, "/", object.meta.name, " has the name that the one of ",
               api::to_string(work.workload),
               " needs, and was not made for it: delete it, or give the workload another name"),
           plan);
    }
    return;
  }
  if (std::ranges::none_of(work.claims, [&](const auto* c) { return is_alive(world, *c); })) return;
  if (is_put_off(world, id, object.meta.name, work, plan)) return;
  const auto num_nodes = nodes_for(world, work, plan);
  if (!num_nodes) return;
  const auto owners = owners_of(world, work, plan);
  if (!owners) return;
  object.meta.labels = {{api::kWorkloadLabel, id}};
  object.meta.finalizers = {api::kDomainFinalizer};
  object.meta.owners = *owners;
  object.spec = {.num_nodes = *num_nodes,
                 .channel = std::nullopt,
                 .workload = workload,
                 .placement = work.placement};
  plan.actions.emplace_back(CreateDomain{std::move(object)});
}

// Owners that come later are added. None is put back that was taken away: that is how the garbage
// collector orphans, and forgets the last owner but one. A domain without any ends with its claims.
// A claim that owns is named in the version that is served now: the garbage collector does nothing
// about an owner in another one, as an upgrade of the cluster leaves it.
void add_owners(const WorkloadsWorld& world, const api::ComputeDomain& domain, const Work& work,
                Plan& plan) {
  if (domain.meta.owners.empty() || !has_all_owners(domain.meta)) return;
  const auto had = world.owners.find(domain.meta.uid);
  std::vector<api::OwnerReference> owners = domain.meta.owners;
  for (const auto& [uid, owner] : work.owners) {
    const auto there = std::ranges::find(owners, uid, &api::OwnerReference::uid);
    const bool was_there = had != world.owners.end() && had->second.contains(uid);
    if (there == owners.end()) {
      if (!was_there) owners.push_back(owner);
    } else if (there->kind == "ResourceClaim") {
      there->api_version = owner.api_version;
    }
  }
  if (owners == domain.meta.owners) return;
  plan.actions.emplace_back(SetOwners{domain.meta, std::move(owners)});
}

// Leaves the rest for when the others have had their turn. Which part of them comes first differs
// from time to time: those that fail as often as they are tried hold back none for ever.
void bound(const WorkloadsWorld& world, Plan& plan) {
  std::vector<Action> events, requests;
  for (Action& action : plan.actions) {
    const bool is_event = std::holds_alternative<RecordEvent>(action);
    (is_event ? events : requests).push_back(std::move(action));
  }
  plan.actions.clear();
  for (std::vector<Action>* actions : {&events, &requests}) {
    if (actions->size() > kMostAtOnce) {
      const std::uint64_t drawn = base::fnv1a64(cat(world.now.count())) % actions->size();
      std::rotate(actions->begin(), actions->begin() + static_cast<std::ptrdiff_t>(drawn),
                  actions->end());
      actions->erase(actions->begin() + kMostAtOnce, actions->end());
      plan.look_again = base::Duration::zero();
    }
    std::ranges::move(*actions, std::back_inserter(plan.actions));
  }
}

}  // namespace

PodFacts facts_of(const api::Pod& pod) {
  PodFacts facts{
      .meta = pod.meta, .templates = std::map<std::string, std::string>{}, .node = pod.node};
  for (const api::PodClaim& claim : pod.claims) {
    facts.templates->emplace(claim.name, claim.template_name);
  }
  return facts;
}

std::optional<PodOfClaim> pod_of(const api::ResourceClaim& claim) {
  for (const api::OwnerReference& owner : claim.meta.owners) {
    if (owner.kind != "Pod" || owner.api_version != "v1") continue;
    return PodOfClaim{owner.name, owner.uid, claim.meta.annotation(api::kPodClaimAnnotation)};
  }
  return std::nullopt;
}

std::optional<OwnedWorkload> workload_of(const PodFacts& pod, const std::string& claim_name) {
  const api::OwnerReference* controller = controller_of(pod.meta);
  const std::optional<api::OwnerReference> owner = owner_like(controller);
  if (const std::string name = pod.meta.label(api::kPodDomainLabel); !name.empty()) {
    return OwnedWorkload{{.kind = api::kLabelWorkload, .name = name, .uid = {}}, owner};
  }
  if (api::OwnerReference set = job_set_of(pod.meta); !set.uid.empty() && !set.name.empty()) {
    const api::Workload workload{.kind = set.kind, .name = set.name, .uid = set.uid};
    const bool is_of_job =
        owner && owner->kind == "Job" && owner->api_version.starts_with("batch/");
    if (is_of_job) return OwnedWorkload{workload, set, owner};
    return OwnedWorkload{workload, owner};
  }
  if (const std::string group = pod.meta.label(api::kGroupKeyLabel); !group.empty()) {
    const std::string name =
        cat(pod.meta.label(api::kLeaderWorkerSetLabel), "-", pod.meta.label(api::kGroupIndexLabel));
    return OwnedWorkload{{.kind = "LeaderWorkerSet", .name = name, .uid = group}, owner};
  }
  if (owner) {
    return OwnedWorkload{{.kind = owner->kind, .name = owner->name, .uid = owner->uid}, owner};
  }
  if (!claim_name.empty()) {
    if (!pod.templates) return std::nullopt;
    const auto used = pod.templates->find(claim_name);
    if (used != pod.templates->end() && !used->second.empty()) {
      return OwnedWorkload{{.kind = "ResourceClaimTemplate", .name = used->second, .uid = {}},
                           std::nullopt};
    }
  }
  return OwnedWorkload{{.kind = "Pod", .name = pod.meta.name, .uid = pod.meta.uid}, std::nullopt};
}

std::optional<api::OwnerReference> maker_of(const PodFacts& pod) {
  const api::OwnerReference* controller = controller_of(pod.meta);
  if (controller == nullptr) return std::nullopt;  // a copy has the same labels
  if (api::OwnerReference set = job_set_of(pod.meta); !set.name.empty()) return set;
  if (const std::string name = pod.meta.label(api::kLeaderWorkerSetLabel); !name.empty()) {
    return api::OwnerReference{.api_version = "leaderworkerset.x-k8s.io/v1",
                               .kind = "LeaderWorkerSet",
                               .name = name,
                               .uid = {}};
  }
  return *controller;
}

OwnedWorkload workload_of(const api::ResourceClaim& claim) {
  return {{.kind = "ResourceClaim", .name = claim.meta.name, .uid = claim.meta.uid},
          api::OwnerReference{.api_version = api::api_version_of(claim),
                              .kind = "ResourceClaim",
                              .name = claim.meta.name,
                              .uid = claim.meta.uid}};
}

std::string workload_id(const std::string& ns, const api::Workload& workload) {
  // When there is a UID, the name is for people only.
  return base::digest128(
      cat(ns, "/", workload.kind, "/", workload.uid.empty() ? workload.name : workload.uid));
}

void trim_pod(api::ObjectMeta& meta) {
  constexpr const char* kRead[] = {api::kPodDomainLabel,  api::kJobSetUidLabel,
                                   api::kJobSetNameLabel, api::kGroupKeyLabel,
                                   api::kGroupIndexLabel, api::kLeaderWorkerSetLabel};
  std::erase_if(meta.labels, [&](const auto& label) {
    return std::ranges::find(kRead, label.first) == std::end(kRead);
  });
  meta.annotations.clear();
  meta.finalizers = {};
  std::vector<api::OwnerReference> owners;
  if (const api::OwnerReference* controller = controller_of(meta)) owners = {*controller};
  meta.owners = std::move(owners);
  bound_owners(meta);
}

namespace {

constexpr std::array kTextsOfOwner = {&api::OwnerReference::api_version, &api::OwnerReference::kind,
                                      &api::OwnerReference::name, &api::OwnerReference::uid};
// The longest name that Kubernetes gives an object, and more owners than a workload has.
constexpr std::size_t kLongestText = 253, kMostOwners = 64;

}  // namespace

void bound_owners(api::ObjectMeta& meta) {
  if (meta.owners.size() > kMostOwners) meta.owners.resize(kMostOwners + 1);
  meta.owners.shrink_to_fit();
  for (api::OwnerReference& owner : meta.owners) {
    for (const auto text : kTextsOfOwner) {
      if ((owner.*text).size() > kLongestText)
        owner.*text = (owner.*text).substr(0, kLongestText + 1);
    }
  }
}

bool has_all_owners(const api::ObjectMeta& meta) {
  return meta.owners.size() <= kMostOwners &&
         std::ranges::all_of(meta.owners, [](const api::OwnerReference& owner) {
           return std::ranges::all_of(kTextsOfOwner, [&](const auto text) {
             return (owner.*text).size() <= kLongestText;
           });
         });
}

Plan reconcile_workloads(const WorkloadsWorld& world) {
  Plan plan;
  const KnownDomains domains(world);
  for (const auto& [id, work] : works_of(world, plan)) {
    const api::ComputeDomain* domain = domains.of(id);
    if (domain == nullptr) {
      create_domain(world, domains, id, work, plan);
    } else if (!domain->meta.is_deleting()) {
      // One that is being deleted is made anew when it is gone.
      add_owners(world, *domain, work, plan);
    }
  }
  bound(world, plan);
  add_read(world, domains, plan);
  return plan;
}

}  // namespace cdom::core
