#include <algorithm>
#include <utility>

#include "compute_domain/api/names.h"
#include "compute_domain/core/node_lists.h"
#include "compute_domain/core/node_pause.h"
#include "compute_domain/core/reconcile.h"
#include "core/domain/node_doubt.h"

namespace cdom::core {

namespace {

// Whether no group keeps a slot for the node.
bool is_without_slot(const ReportWorld& world) {
  return std::ranges::none_of(world.lists, [&](const StoredList& stored) {
    return !stored.list || find_entry(*stored.list, world.node) != nullptr;
  });
}

std::optional<api::Staleness> staleness_of(const ReportWorld& world) {
  const auto& before = world.view.report->stale;
  const bool was_without_agent = before && before->reason == MemberState("AgentUnknown").name();
  const auto doubt =
      doubt_of(&world.view, world.node, world.settings.agent_grace, was_without_agent);
  if (!doubt) return std::nullopt;
  api::Staleness stale{.reason = std::string(doubt->state.name()),
                       .message = doubt->detail,
                       .since = std::chrono::floor<std::chrono::seconds>(world.now)};
  if (before && before->reason == stale.reason) stale.since = before->since;
  return stale;
}

}  // namespace

Plan reconcile_report(const ReportWorld& world) {
  if (!world.view.report) return {};
  const api::ComputeDomainNode& report = *world.view.report;
  Plan plan;
  // A Node that the cache does not show may exist.
  if (!world.view.node) plan.actions.emplace_back(EnsureNodeGone{world.node});
  if (!world.view.node && is_without_slot(world)) {
    plan.actions.emplace_back(DeleteReport{report.meta});
    return plan;
  }
  std::optional<api::Staleness> stale = staleness_of(world);
  if (stale == report.stale) {
    plan.actions.clear();
  } else {
    plan.actions.emplace_back(MarkReport{report.meta, std::move(stale)});
  }
  // The status comes first: it is of the version that was seen.
  if (world.view.node && !report.meta.is_deleting()) {
    std::string pause = to_text(pause_of(*world.view.node));
    if (report.meta.annotation(api::kPauseAnnotation) != pause) {
      plan.actions.emplace_back(TellPause{report.meta, std::move(pause)});
    }
  }
  plan.look_again = agent_grace_left(world.view, world.settings.agent_grace);
  return plan;
}

}  // namespace cdom::core
