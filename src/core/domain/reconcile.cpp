#include "compute_domain/core/reconcile.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "compute_domain/api/channel_config.h"
#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/channels.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/node_pause.h"
#include "compute_domain/core/readiness.h"
#include "compute_domain/core/slots.h"
#include "compute_domain/core/status.h"
#include "compute_domain/core/templates.h"
#include "core/pace.h"
#include "core/workloads/workload_words.h"

namespace cdom::core {

namespace {

using base::cat;

bool owns(const World& world, const api::ResourceClaimTemplate& object) {
  return is_owned_by(object.meta, world.view.uid);
}

bool is_inherited(const World& world, const api::ResourceClaimTemplate& object) {
  return !world.settings.adopt_from.empty() &&
         is_predecessors_template(object.meta, world.view.uid);
}

const api::ResourceClaimTemplate* find_template(const World& world, const api::ObjectName& name) {
  const auto it = std::ranges::find_if(
      world.templates, [&](const auto& object) { return api::name_of(object.meta) == name; });
  return it == world.templates.end() ? nullptr : &*it;
}

std::string owner_of(const World& world, const api::ResourceClaimTemplate& object) {
  for (const api::OwnerReference& owner : object.meta.owners) {
    return cat(owner.kind, " ", owner.name, " with UID ", owner.uid);
  }
  if (is_predecessors_template(object.meta, world.view.uid)) {
    return "NVIDIA's DRA driver (--adopt-from names the namespaces whose domains are taken over)";
  }
  return "somebody else";
}

TemplateVerdict template_is_there(const std::string& name) {
  return {TemplateVerdict::What::Ready, cat("pods can use ResourceClaimTemplate ", name)};
}

// The choice that a template was made for is older than the one that holds; a newer one than the
// reservation's is of a ConfigMap that this cache does not show yet.
bool is_outdated(const World& world, const api::ResourceClaimTemplate& found) {
  if (!api::wants_one_clique(*world.view.domain) || !world.reservation) return false;
  const auto made = placement_of(found);
  return !world.view.has_predecessor && (!made || made->generation < world.reservation->generation);
}

TemplateVerdict verdict_on_template(const World& world) {
  using What = TemplateVerdict::What;
  const api::ComputeDomain& domain = *world.view.domain;
  const auto wanted = wanted_template(domain, world.reservation);
  if (!wanted) return {What::NotWanted, ""};
  const std::string& name = wanted->meta.name;
  if (!base::is_dns_subdomain(name)) {
    return {What::NameInvalid,
            cat("spec.channel.resourceClaimTemplate.name: \"", name,
                "\" is not a DNS subdomain (lower-case letters, digits, '-' and '.'); delete the "
                "ComputeDomain and create it with a valid name")};
  }
  const api::ResourceClaimTemplate* found = find_template(world, api::name_of(wanted->meta));
  if (found == nullptr && api::wants_one_clique(domain) && !world.reservation) {
    return {What::NotPlaced,
            cat("ResourceClaimTemplate ", name, " is made once a clique is chosen: see Placed")};
  }
  if (found == nullptr)
    return {What::Missing, cat("ResourceClaimTemplate ", name, " is being made")};
  if (!owns(world, *found) && !is_inherited(world, *found)) {
    return {What::NameTaken,
            cat("ResourceClaimTemplate ", name, " belongs to ", owner_of(world, *found),
                " and is left alone; delete this ComputeDomain and create it with another "
                "template name")};
  }
  if (!owns(world, *found) && !world.view.has_predecessor) {
    return {What::Inherited, cat("ResourceClaimTemplate ", name, " is being taken over")};
  }
  if (found->meta.is_deleting()) {
    return {What::BeingDeleted, cat("ResourceClaimTemplate ", name,
                                    " is being deleted and will be "
                                    "made again")};
  }
  if (is_outdated(world, *found)) {
    return {What::Outdated, cat("ResourceClaimTemplate ", name,
                                " is being created again for clique ", world.reservation->clique)};
  }
  return template_is_there(name);
}

// Whether the status remembers slots of a group whose list is not there any more.
bool has_lost_list(const World& world) {
  if (!world.view.domain->status) return false;
  return std::ranges::any_of(world.view.domain->status->nodes, [&](const auto& status) {
    const ImexGroupKey group{status.channel > 0 ? "" : world.view.uid, status.clique};
    const std::string name = node_list_name(group_id(group));
    return status.index >= 0 && std::ranges::none_of(world.lists, [&](const auto& list) {
             return list.meta.name == name;
           });
  });
}

// Since when the domain has said that the predecessor serves it: from then on its controller, and
// what was installed with it, is gone.
std::optional<base::Time> taken_over_at(const World& world) {
  if (!world.view.has_predecessor || !world.view.domain || !world.view.domain->status) {
    return std::nullopt;
  }
  const auto* ready = api::find_condition(world.view.domain->status->conditions, kConditionReady);
  if (ready == nullptr || ready->reason != kServedByPredecessor.name()) return std::nullopt;
  return ready->last_transition;
}

// UIDs of claims that the predecessor cannot have prepared: they were made after it had gone, for
// nodes that our agent had before. That agent refuses them, so they wait for the predecessor's end;
// if it waited for theirs too, both would wait for ever.
std::set<std::string> late_claims(const World& world) {
  std::set<std::string> late;
  const auto taken_over = taken_over_at(world);
  if (!taken_over) return late;
  const auto is_ours = [&](const std::string& node, base::Time made) {
    const auto it = world.nodes.find(node);
    if (it == world.nodes.end() || !it->second.report) return false;
    const auto since = it->second.report->meta.creation_time;
    return since && made > *since;
  };
  for (const api::ResourceClaim& claim : world.view.claims) {
    const auto made = claim.meta.creation_time;
    if (!made || *made <= *taken_over) continue;
    const std::vector<std::string> nodes = nodes_of(claim);
    if (std::ranges::all_of(nodes, [&](const auto& node) { return is_ours(node, *made); })) {
      late.insert(claim.meta.uid);
    }
  }
  return late;
}

// The held claims that the cache knows: enough to say what a deletion waits for, not to prove that
// none is left.
std::set<std::string> cached_held_claims(const World& world) {
  std::vector<StoredList> lists = world.lists;
  if (has_lost_list(world) || world.view.has_predecessor) {
    StoredList& lost = lists.emplace_back();
    if (world.view.domain) lost.meta.labels = world.view.domain->meta.labels;
  }
  std::set<std::string> held = held_claims(world.view.uid, lists, world.view.claims);
  for (const std::string& uid : late_claims(world)) held.erase(uid);
  return held;
}

// How to end the pods of an automatic domain by its workload; "" where that is of no object's.
std::string end_of_workload(const api::ComputeDomain& domain) {
  const auto& workload = domain.spec.workload;
  if (!workload || workload->uid.empty()) return "";
  for (const api::OwnerReference& owner : domain.meta.owners) {
    if (owner.uid == workload->uid && owner.kind == workload->kind) {
      return how_to_end(*workload, owner.api_version, domain.meta.ns);
    }
  }
  return how_to_end(*workload, "", domain.meta.ns);
}

// Pods with one remedy.
struct Made {
  std::vector<std::string> pods;
  std::string by;  // "Job train"; "" : nothing that is known
};

// Pods by how they are ended.
std::map<std::string, Made> made_by(const World& world,
                                    const std::map<std::string, std::string>& pods) {
  std::map<std::string, Made> made;
  const auto& domain = world.view.domain;
  const std::string end = domain ? end_of_workload(*domain) : "";
  for (const auto& [name, uid] : pods) {
    api::Workload by;
    std::string remedy = end;
    if (!end.empty()) {
      by = *domain->spec.workload;
    } else if (const auto it = world.makers.find(uid); domain && it != world.makers.end()) {
      const api::OwnerReference& maker = it->second;
      by = {.kind = maker.kind, .name = maker.name, .uid = maker.uid};
      remedy = how_to_end(by, maker.api_version, domain->meta.ns);
    }
    Made& entry = made[remedy];
    entry.pods.push_back(name);
    if (!remedy.empty()) entry.by = cat(by.kind, " ", by.name);
  }
  return made;
}

// "18 pods of Job train", and how to end them; else their names. By their names with their UIDs.
void add_pods(const World& world, const std::map<std::string, std::string>& pods, WaitsFor& waits) {
  std::vector<std::string> what, remedies;
  for (const auto& [remedy, made] : made_by(world, pods)) {
    const bool is_one = made.pods.size() == 1;
    const std::string count = cat(made.pods.size(), is_one ? " pod" : " pods");
    if (!remedy.empty()) {
      what.push_back(cat(count, " of ", made.by));
      remedies.push_back(remedy);
      continue;
    }
    const char* them = is_one ? "it" : "them";
    what.push_back(cat(count, " (", base::list_names(made.pods, 3), ")"));
    remedies.push_back(cat("delete ", them, ", or what has made ", them));
  }
  waits.what.insert(waits.what.begin(), what.begin(), what.end());
  waits.remedy = base::join(remedies, "; ");
}

// Pods whose containers may still run; claims that are held for none; and nodes whose own word says
// that they still serve a claim, although it is gone.
WaitsFor what_still_runs(const World& world) {
  std::set<std::string> waits;
  std::map<std::string, std::string> pods;
  const std::set<std::string> held = cached_held_claims(world);
  for (const api::ResourceClaim& claim : world.view.claims) {
    if (!held.contains(claim.meta.uid)) continue;
    for (const api::ClaimConsumer& consumer : claim.reserved_for)
      pods[consumer.name] = consumer.uid;
    if (claim.reserved_for.empty()) {
      waits.insert(cat("claim ", claim.meta.name, ", which is allocated and which no pod has ",
                       "(kubectl delete resourceclaim ", claim.meta.name, " -n ", claim.meta.ns,
                       ")"));
    }
  }
  for (const ImexGroupKey& key : groups_of(world.view, world.nodes, world.lists)) {
    const std::string group = group_id(key);
    const bool by_channel = key.domain_uid.empty();
    const api::NodeList* list = by_channel ? find_list(world.lists, group) : nullptr;
    const auto channel = list == nullptr ? std::nullopt : channel_of(*list, world.view.uid);
    for (const auto& [node, view] : world.nodes) {
      // Nobody waits for a node that is gone or dead: the group goes with its domain, so no other
      // daemon can ever get into its slot.
      const bool answers = view.node && view.node->ready != api::ConditionStatus::Unknown;
      if (!answers || !view.report) continue;
      const api::ImexGroupReport* report = api::find_group(view.report->status, group);
      if (report == nullptr) continue;
      const SlotRecord record{report->slot, view.report->status.boot_id, report->term};
      if (is_fenced(view, group, record)) continue;
      if (by_channel) {
        // Claims of other domains are there too.
        const bool has_claim = std::ranges::any_of(
            report->claims, [&](const std::string& uid) { return held.contains(uid); });
        if (channel && !has_claim && parse_slot_ranges(report->channels).contains(*channel)) {
          waits.insert(cat("containers with channel ", *channel, " on node ", node));
        }
        continue;
      }
      for (const std::string& uid : report->claims) {
        if (!held.contains(uid)) waits.insert(cat("claim UID ", uid, " on node ", node));
      }
    }
  }
  WaitsFor all{.what = {waits.begin(), waits.end()}, .remedy = {}};
  add_pods(world, pods, all);
  return all;
}

// Nobody here sees what the daemons of another driver do.
Readiness readiness_now(const World& world) {
  if (world.view.has_predecessor) return {};
  return readiness_of(world, memberships_of(world.view, world.nodes, world.lists));
}

// Somebody may wait for that.
bool flips_a_condition(const std::optional<api::ComputeDomainStatus>& before,
                       const api::ComputeDomainStatus& after) {
  if (before && before->conditions.size() > after.conditions.size()) return true;
  return std::ranges::any_of(after.conditions, [&](const api::Condition& condition) {
    const auto* known = before ? api::find_condition(before->conditions, condition.type) : nullptr;
    return known == nullptr || known->status != condition.status;
  });
}

// The status is the second record of who has which slot.
bool gives_a_slot(const std::optional<api::ComputeDomainStatus>& before,
                  const api::ComputeDomainStatus& after) {
  return std::ranges::any_of(after.nodes, [&](const api::ComputeDomainNodeStatus& node) {
    return node.index >= 0 &&
           (!before || std::ranges::none_of(before->nodes, [&](const auto& known) {
             return known.name == node.name && known.index == node.index;
           }));
  });
}

// The status reports a node list together with its effects, if these come soon.
base::Duration wait_of_status(const World& world, const api::ComputeDomainStatus& after,
                              const Readiness& readiness) {
  const api::ComputeDomain& domain = *world.view.domain;
  const bool is_detail =
      !after.ready && !domain.meta.is_deleting() && !flips_a_condition(domain.status, after) &&
      !gives_a_slot(domain.status, after) &&
      events_for(world, domain.status.value_or(api::ComputeDomainStatus{}), after, readiness)
          .empty();
  const base::Duration interval =
      is_detail ? world.settings.detail_interval : world.settings.status_interval;
  return std::max(left_of(interval, world.status_written, world.now),
                  left_of(interval, world.unreported_list, world.now));
}

// What an older CustomResourceDefinition has cut is not written again: it would be for ever.
bool is_cut_short(const World& world, const api::ComputeDomainStatus& after) {
  if (!world.pruned || world.view.domain->status != world.pruned->kept) return false;
  const auto without_times = [](api::ComputeDomainStatus status) {
    for (api::Condition& condition : status.conditions) condition.last_transition = {};
    return status;
  };
  return without_times(world.pruned->sent) == without_times(after);
}

// Nobody has looked for a clique yet, or what was chosen is on its way: the status is written once
// it is there. The first status does not wait for longer than this.
constexpr base::Duration kPlacementSettles = std::chrono::seconds(1);

bool is_about_to_be_placed(const World& world) {
  const api::ComputeDomain& domain = *world.view.domain;
  if (!api::wants_one_clique(domain) || domain.meta.is_deleting() || world.reservation)
    return false;
  if (!domain.status && world.known_for >= kPlacementSettles) return false;
  if (!world.refusals.empty()) return false;
  return world.placement ? world.placement->holds : !domain.status;
}

void add_status(const World& world, const Readiness& readiness, const TemplateVerdict& verdict,
                const WaitsFor& waits_for, Plan& plan) {
  const api::ComputeDomain& domain = *world.view.domain;
  if (is_about_to_be_placed(world)) {
    if (!domain.status) look_again_after(kPlacementSettles - world.known_for, plan);
    return;
  }
  const api::ComputeDomainStatus after = computed_status(world, readiness, verdict, waits_for);
  if (domain.status == after || is_cut_short(world, after)) return;
  const bool urgent = !domain.status || domain.status->ready != after.ready;
  const base::Duration left =
      urgent ? base::Duration::zero() : wait_of_status(world, after, readiness);
  if (left > base::Duration::zero()) {
    look_again_after(left, plan);
    return;
  }
  const bool is_refused = !world.refusals.empty();
  // The status may be what is refused.
  if (!is_refused) plan.actions.emplace_back(SetStatus{domain.meta, after});
  for (RecordEvent& event :
       events_for(world, domain.status.value_or(api::ComputeDomainStatus{}), after, readiness)) {
    plan.actions.emplace_back(std::move(event));
  }
  if (is_refused) plan.actions.emplace_back(SetStatus{domain.meta, after});
}

std::vector<const api::ResourceClaim*> unreported_claims(const World& world) {
  std::vector<const api::ResourceClaim*> claims;
  for (const api::ResourceClaim& claim : world.view.claims) {
    if (claim.allocation && !world.reported_claims.contains(claim.meta.uid))
      claims.push_back(&claim);
  }
  std::ranges::sort(claims, {}, [](const api::ResourceClaim* claim) {
    return std::pair(api::name_of(claim->meta), claim->meta.uid);
  });
  return claims;
}

void tell_claims_of_other_namespaces(const World& world, Plan& plan) {
  for (const api::ResourceClaim* claim : unreported_claims(world)) {
    if (standing_of(*claim, world.view) != Standing::WrongNamespace) continue;
    plan.actions.emplace_back(event_on(
        reference_to(*claim), "WrongNamespace",
        cat("names ComputeDomain ", api::to_string(api::name_of(world.view.domain->meta)),
            ", which serves claims of its own namespace only; create a ComputeDomain in namespace ",
            claim->meta.ns)));
  }
}

// Claims that were made before their domain was placed anew.
void tell_claims_of_a_former_clique(const World& world, Plan& plan) {
  for (const api::ResourceClaim* claim : former_claims(world)) {
    if (world.reported_claims.contains(claim->meta.uid)) continue;
    plan.actions.emplace_back(event_on(
        reference_to(*claim), "MadeForFormerClique",
        cat("asks for a seat of clique ", asked_clique(claim->spec), ", and ComputeDomain ",
            world.view.domain->meta.name, " is now in clique ", world.reservation->clique,
            "; delete the pod, so that its claim is created again")));
  }
}

void tell_claims_that_come_too_late(const World& world, Plan& plan) {
  const std::set<std::string> held = cached_held_claims(world);
  for (const api::ResourceClaim* claim : unreported_claims(world)) {
    const Standing standing = standing_of(*claim, world.view);
    if (standing == Standing::WrongNamespace || held.contains(claim->meta.uid)) continue;
    plan.actions.emplace_back(
        event_on(reference_to(*claim), "ComputeDomainBeingDeleted",
                 cat("ComputeDomain ", api::to_string(api::name_of(world.view.domain->meta)),
                     " is being deleted and takes no new claim; delete the pod")));
  }
}

Action claims_released(const World& world) {
  return EnsureClaimsReleased{.claims_ns = world.view.domain->meta.ns,
                              .lists_ns = world.settings.operator_namespace,
                              .domain_uid = world.view.uid,
                              .has_predecessor = world.view.has_predecessor,
                              .late = late_claims(world)};
}

EnsurePredecessorGone predecessor_gone(const World& world) {
  return {world.view.uid, world.settings.adopt_from};
}

// Children that bear the UID of a domain which is gone, or which we do not hold any more. A
// template that is being deleted already goes by itself, whatever still holds it.
void add_children_absent(const World& world, Plan& plan) {
  if (std::ranges::any_of(world.lists,
                          [&](const auto& list) { return is_own(list.meta, world.view.uid); })) {
    plan.actions.emplace_back(
        EnsureNodeListsAbsent{world.settings.operator_namespace, world.view.uid});
  }
  std::vector<EnsureTemplateAbsent> templates;
  for (const api::ResourceClaimTemplate& object : world.templates) {
    const bool predecessors = world.view.has_predecessor && is_inherited(world, object);
    if (predecessors || (owns(world, object) && !object.meta.is_deleting())) {
      templates.push_back({api::name_of(object.meta), world.view.uid, predecessors});
    }
  }
  std::ranges::sort(templates, {}, &EnsureTemplateAbsent::name);
  for (EnsureTemplateAbsent& absent : templates) plan.actions.emplace_back(std::move(absent));
  if (world.view.has_predecessor) {
    // Nobody knows any more in which namespace its claims are.
    plan.actions.emplace_back(
        EnsureClaimsReleased{"", world.settings.operator_namespace, world.view.uid, true, {}});
    plan.actions.emplace_back(predecessor_gone(world));
  }
}

// The domain is not in the cache, which proves nothing: the API server is asked before anything
// that carries its UID is removed, or a claim gets an Event that its domain is unknown.
Plan reconcile_absent(const World& world) {
  Plan children;
  add_children_absent(world, children);
  for (const api::ResourceClaim* claim : unreported_claims(world)) {
    children.actions.emplace_back(
        event_on(reference_to(*claim), "UnknownComputeDomain",
                 cat("names the ComputeDomain with UID ", world.view.uid,
                     ", and there is none; delete the pod and use the template of a "
                     "ComputeDomain that exists")));
  }
  if (children.actions.empty()) return {};
  children.actions.insert(children.actions.begin(), EnsureDomainGone{world.view.uid});
  return children;
}

// Pods mostly end together with their domain. For those that do not, their makers are read once.
constexpr base::Duration kPodsEnd = std::chrono::seconds(5);

void read_makers(const World& world, const WaitsFor& waits_for, Plan& plan) {
  const api::ComputeDomain& domain = *world.view.domain;
  if (waits_for.remedy.empty() || !end_of_workload(domain).empty()) return;
  const base::Time due = *domain.meta.deletion_time + kPodsEnd;
  if (world.pods_read && *world.pods_read >= due) return;
  if (world.now < due) {
    // Not after the hour by which somebody has set the clock back.
    look_again_after(std::min<base::Duration>(due - world.now, kPodsEnd), plan);
  } else {
    plan.actions.emplace_back(ReadPods{domain.meta.ns, false});
  }
}

// Teardown. How it goes: the template goes at once, so that no new claim is made; then the status
// says what still runs; when nothing does, and a live LIST agrees, the node lists go; and only when
// the API server has confirmed that every child is gone does the finalizer.
Plan reconcile_deleting(const World& world) {
  const api::ComputeDomain& domain = *world.view.domain;
  Plan plan;
  if (!domain.meta.has_finalizer(api::kDomainFinalizer)) {
    add_children_absent(world, plan);
    return plan;
  }
  const auto wanted = wanted_template(domain);
  std::vector<Action> template_removal;
  if (wanted && base::is_dns_subdomain(wanted->meta.name)) {
    // Also when the cache does not show it: a create of ours may be on its way.
    template_removal.emplace_back(EnsureTemplateAbsent{api::name_of(wanted->meta), world.view.uid,
                                                       !world.settings.adopt_from.empty()});
  }
  const WaitsFor waits_for = what_still_runs(world);
  if (!waits_for.empty()) {
    const auto* found = wanted ? find_template(world, api::name_of(wanted->meta)) : nullptr;
    const bool is_there = found != nullptr && !found->meta.is_deleting() &&
                          (owns(world, *found) || is_inherited(world, *found));
    const Readiness readiness = readiness_now(world);
    plan.look_again = readiness.look_again;
    // Told before what does not succeed is tried again.
    if (!world.refusals.empty()) add_status(world, readiness, {}, waits_for, plan);
    if (is_there) std::ranges::move(template_removal, std::back_inserter(plan.actions));
    if (world.refusals.empty()) add_status(world, readiness, {}, waits_for, plan);
    tell_claims_that_come_too_late(world, plan);
    read_makers(world, waits_for, plan);
    return plan;
  }
  if (!world.refusals.empty()) add_status(world, readiness_now(world), {}, waits_for, plan);
  std::ranges::move(template_removal, std::back_inserter(plan.actions));
  plan.actions.push_back(claims_released(world));
  if (world.view.has_predecessor) plan.actions.emplace_back(predecessor_gone(world));
  plan.actions.emplace_back(
      EnsureNodeListsAbsent{world.settings.operator_namespace, world.view.uid});
  plan.actions.emplace_back(RemoveFinalizer{domain.meta});
  return plan;
}

// An automatic domain that nobody owns (its pods have no controller, or were orphaned) is gone with
// its last claim.
bool has_ended(const World& world) {
  const api::ComputeDomain& domain = *world.view.domain;
  return domain.spec.workload && domain.meta.owners.empty() && world.view.claims.empty() &&
         !world.has_unknown_claims;
}

Plan reconcile_living(const World& world) {
  const api::ComputeDomain& domain = *world.view.domain;
  if (has_ended(world)) {
    return {.actions = {claims_released(world), DeleteDomain{domain.meta}},
            .look_again = std::nullopt};
  }
  Plan plan;
  TemplateVerdict verdict = verdict_on_template(world);
  const Readiness readiness = readiness_now(world);
  plan.look_again = readiness.look_again;
  std::optional<base::Duration> next_waiting;
  waiting_claims(world.view, world.now, &next_waiting);
  if (next_waiting) look_again_after(*next_waiting, plan);
  const WaitsFor waits_for = world.view.has_predecessor ? what_still_runs(world) : WaitsFor{};
  const bool is_refused = !world.refusals.empty();
  // Told before what does not succeed is tried again.
  if (is_refused) add_status(world, readiness, verdict, waits_for, plan);
  if (verdict.what != TemplateVerdict::What::NameInvalid) {
    if (!domain.meta.has_finalizer(api::kDomainFinalizer)) {
      plan.actions.emplace_back(AddFinalizer{domain.meta});
    }
    const auto wanted = wanted_template(domain, world.reservation);
    if (verdict.what == TemplateVerdict::What::Outdated) {
      const api::ObjectMeta current = find_template(world, api::name_of(wanted->meta))->meta;
      plan.actions.emplace_back(ReplaceTemplate{current, *wanted});
      verdict = template_is_there(wanted->meta.name);
    }
    if (verdict.what == TemplateVerdict::What::Inherited) {
      const api::ObjectMeta current = find_template(world, api::name_of(wanted->meta))->meta;
      plan.actions.emplace_back(AdoptTemplate{current, wanted->meta.owners});
      verdict = template_is_there(wanted->meta.name);
    }
    if (verdict.what == TemplateVerdict::What::Missing) {
      plan.actions.emplace_back(CreateTemplate{*wanted});
      // The status comes later in this plan: it is only written when there is a template.
      verdict = template_is_there(wanted->meta.name);
    }
  }
  if (!is_refused) add_status(world, readiness, verdict, waits_for, plan);
  tell_claims_of_other_namespaces(world, plan);
  tell_claims_of_a_former_clique(world, plan);
  if (world.view.has_predecessor && waits_for.empty()) {
    plan.actions.push_back(claims_released(world));
    plan.actions.emplace_back(predecessor_gone(world));
  }
  return plan;
}

}  // namespace

std::optional<api::ResourceClaimTemplate> wanted_template(
    const api::ComputeDomain& domain, const std::optional<Reservation>& reservation) {
  if (!domain.spec.channel) return std::nullopt;
  api::ResourceClaimTemplate object;
  object.meta.name = domain.spec.channel->template_name;
  object.meta.ns = domain.meta.ns;
  object.meta.labels = {{api::kDomainLabel, domain.meta.uid},
                        {api::kTargetLabel, api::kTargetWorkload}};
  object.meta.owners = {{.api_version = "resource.nvidia.com/v1beta1",
                         .kind = "ComputeDomain",
                         .name = domain.meta.name,
                         .uid = domain.meta.uid,
                         .controller = true}};
  object.spec.requests = {{.name = api::kChannelRequest,
                           .device_class = api::kChannelClass,
                           .selectors = {},
                           .admin_access = false}};
  object.spec.configs = {{.requests = {api::kChannelRequest},
                          .driver = api::kDriver,
                          .parameters = api::encode_channel_config(
                              {domain.meta.uid, domain.spec.channel->allocation_mode}),
                          .from_class = false}};
  if (reservation) ask_for(object, *reservation);
  return object;
}

Plan reconcile(const World& world) {
  if (!world.view.domain) return reconcile_absent(world);
  if (world.view.domain->meta.is_deleting()) return reconcile_deleting(world);
  return reconcile_living(world);
}

}  // namespace cdom::core
