#include "compute_domain/core/reconcile.h"

#include <algorithm>
#include <optional>

#include "compute_domain/api/names.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/readiness.h"
#include "core/domain/claim_events.h"
#include "core/domain/status_plan.h"
#include "core/domain/still_running.h"
#include "core/domain/teardown.h"
#include "core/domain/template_verdict.h"
#include "core/pace.h"

namespace cdom::core {

namespace {

// An automatic domain that nobody owns (its pods have no controller, or were orphaned) is gone with
// its last claim.
bool has_ended(const World& world) {
  const api::ComputeDomain& domain = *world.view.domain;
  const auto is_of_others = [&](const api::ResourceClaim& claim) {
    return standing_of(claim, world.view) == Standing::WrongNamespace;
  };
  return domain.spec.workload && domain.meta.owners.empty() && !world.has_unknown_claims &&
         std::ranges::all_of(world.view.claims, is_of_others);
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
  // Told before what does not succeed is tried again.
  if (is_held_up(world)) add_status(world, readiness, verdict, waits_for, plan);
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
  if (!is_held_up(world)) add_status(world, readiness, verdict, waits_for, plan);
  tell_claims_of_other_namespaces(world, plan);
  tell_claims_of_a_former_clique(world, plan);
  if (world.view.has_predecessor && waits_for.empty()) {
    plan.actions.push_back(claims_released(world));
    plan.actions.emplace_back(predecessor_gone(world));
  }
  return plan;
}

}  // namespace

Plan reconcile(const World& world) {
  if (!world.view.domain) return reconcile_absent(world);
  if (world.view.domain->meta.is_deleting()) return reconcile_deleting(world);
  return reconcile_living(world);
}

}  // namespace cdom::core
