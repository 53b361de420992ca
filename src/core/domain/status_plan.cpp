#include "core/domain/status_plan.h"

#include <algorithm>
#include <utility>

#include "compute_domain/core/membership.h"
#include "core/pace.h"

namespace cdom::core {

namespace {

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

// A seat that is taken or freed is news to all domains that wait for one: together they write it
// fifty times a second at most.
constexpr base::Duration kPaceOfSeats = std::chrono::milliseconds(20);

// The message of Ready counts the seats.
bool differs_in_a_message(const api::ComputeDomainStatus& before, api::ComputeDomainStatus after) {
  for (api::Condition& condition : after.conditions) {
    const auto* known = api::find_condition(before.conditions, condition.type);
    if (known != nullptr && condition.type == kConditionReady) condition.message = known->message;
  }
  return after == before;
}

base::Duration detail_interval(const World& world, const api::ComputeDomainStatus& after) {
  const auto& before = world.view.domain->status;
  const bool is_of_seats = world.seats && before && differs_in_a_message(*before, after);
  if (!is_of_seats) return world.settings.detail_interval;
  return std::max(world.settings.detail_interval, kPaceOfSeats * world.seats->told_by);
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
      is_detail ? detail_interval(world, after) : world.settings.status_interval;
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

// A process that has just started reads pods within a moment. Until then members of shared claims
// may be missing, and a status without them would be taken back.
constexpr base::Duration kPodsPatience = std::chrono::seconds(10);

bool is_about_to_be_placed(const World& world) {
  const api::ComputeDomain& domain = *world.view.domain;
  if (!api::wants_one_clique(domain) || domain.meta.is_deleting() || world.reservation)
    return false;
  if (!domain.status && world.known_for >= kPlacementSettles) return false;
  if (is_held_up(world)) return false;
  return world.placement ? world.placement->holds : !domain.status;
}

}  // namespace

bool is_held_up(const World& world) { return !world.refusals.empty() || !world.failures.empty(); }

Readiness readiness_now(const World& world) {
  if (world.view.has_predecessor) return {};
  return readiness_of(world, memberships_of(world.view, world.nodes, world.lists));
}

void add_status(const World& world, const Readiness& readiness, const TemplateVerdict& verdict,
                const WaitsFor& waits_for, Plan& plan) {
  const api::ComputeDomain& domain = *world.view.domain;
  if (is_about_to_be_placed(world)) {
    if (!domain.status) look_again_after(kPlacementSettles - world.known_for, plan);
    return;
  }
  if (world.awaits_pods && world.known_for < kPodsPatience) {
    return look_again_after(kPodsPatience - world.known_for, plan);
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

}  // namespace cdom::core
