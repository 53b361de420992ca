#include "core/domain/teardown.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/readiness.h"
#include "compute_domain/core/reconcile.h"
#include "compute_domain/core/templates.h"
#include "core/domain/claim_events.h"
#include "core/domain/status_plan.h"
#include "core/domain/still_running.h"
#include "core/domain/template_verdict.h"
#include "core/pace.h"

namespace cdom::core {

namespace {

using base::cat;

// The admission policy lets the controller delete no template without the label; one that has lost
// it goes with its owner.
bool is_ours(const World& world, const api::ResourceClaimTemplate& object) {
  return owns(world, object) && bears_label_of(object.meta, world.view.uid);
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
    if (predecessors || (is_ours(world, object) && !object.meta.is_deleting())) {
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

}  // namespace

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
  children.actions.insert(children.actions.begin(),
                          EnsureDomainGone{.uid = world.view.uid, .may_wait = true});
  return children;
}

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
                          (is_ours(world, *found) || is_inherited(world, *found));
    const Readiness readiness = readiness_now(world);
    plan.look_again = readiness.look_again;
    // Told before what does not succeed is tried again.
    if (is_held_up(world)) add_status(world, readiness, {}, waits_for, plan);
    if (is_there) std::ranges::move(template_removal, std::back_inserter(plan.actions));
    if (!is_held_up(world)) add_status(world, readiness, {}, waits_for, plan);
    tell_claims_that_come_too_late(world, plan);
    read_makers(world, waits_for, plan);
    return plan;
  }
  if (is_held_up(world)) add_status(world, readiness_now(world), {}, waits_for, plan);
  std::ranges::move(template_removal, std::back_inserter(plan.actions));
  plan.actions.push_back(claims_released(world));
  if (world.view.has_predecessor) plan.actions.emplace_back(predecessor_gone(world));
  plan.actions.emplace_back(
      EnsureNodeListsAbsent{world.settings.operator_namespace, world.view.uid});
  plan.actions.emplace_back(RemoveFinalizer{domain.meta});
  return plan;
}

}  // namespace cdom::core
