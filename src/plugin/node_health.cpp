#include "plugin/node_health.h"

#include <algorithm>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/reasons.h"
#include "compute_domain/core/reconcile.h"

namespace cdom::plugin {

namespace {

using base::cat;
using Cause = NodeHealth::Cause;

constexpr char kLookAtAgent[] = "check the compute-domain-agent pod there";

// A daemon that has failed, of a group that the node still serves.
const api::ImexGroupReport* failed_group(const api::ComputeDomainNode& report) {
  const auto it = std::ranges::find(report.status.groups, api::DaemonState::Failed,
                                    &api::ImexGroupReport::state);
  return it == report.status.groups.end() ? nullptr : &*it;
}

Verdict verdict_of(const std::optional<core::Reason>& reason) {
  if (!reason) return Verdict::Fails;
  switch (reason->row().severity) {
    case core::Severity::Fine:
      return Verdict::Ok;
    case core::Severity::Forming:
      return Verdict::Warning;
    default:
      return Verdict::Fails;
  }
}

// Adds the remedy of the reason's row, where it has one.
NodeHealth unwell(Cause cause, const std::string& reason, const std::string& message) {
  const auto known = core::Reason::find(reason);
  return {.cause = cause,
          .verdict = Verdict::Fails,
          .reason = reason,
          .message = message,
          .remedy = known ? std::string(known->row().next) : kLookAtAgent,
          .command = {}};
}

// A person set it when the machine was off, and nothing takes it away again.
bool keeps_out_of_service_taint(const api::Node* node) {
  return node != nullptr && node->ready == api::ConditionStatus::True &&
         std::ranges::find(node->taints, api::kOutOfServiceTaint, &api::Taint::key) !=
             node->taints.end();
}

}  // namespace

bool is_left_out(const api::Node& node) {
  return node.meta.labels.contains(api::kAgentNodeLabel) && !core::needs_agent(node.meta);
}

NodeHealth health_of(const Facts& facts, const std::string& node) {
  const api::ComputeDomainNode* report = facts.report(node);
  if (report == nullptr) return unwell(Cause::NoReport, "", "its agent has not reported");
  if (const auto doubt = facts.doubt_of(node)) {
    return unwell(Cause::Doubted, doubt->reason, doubt->message);
  }
  const api::Condition* can_serve =
      api::find_condition(report->status.conditions, api::kConditionCanServe);
  if (can_serve == nullptr) {
    return unwell(Cause::Unsaid, "", "its agent has not reported yet whether the node can serve");
  }
  if (const auto* group = failed_group(*report)) {
    return unwell(Cause::ImexDied, std::string(core::Reason("ImexFailed").name()), group->message);
  }
  if (can_serve->status != api::ConditionStatus::True) {
    NodeHealth health = unwell(Cause::CannotServe, can_serve->reason, can_serve->message);
    health.verdict = verdict_of(core::Reason::find(can_serve->reason));
    if (health.verdict == Verdict::Ok) health.remedy.clear();
    return health;
  }
  if (facts.devices_on(node) == 0) {
    return unwell(Cause::NoSlice, "",
                  "although it can serve: the scheduler has no ResourceSlice to allocate from");
  }
  if (keeps_out_of_service_taint(facts.node(node))) {
    NodeHealth health = unwell(Cause::Tainted, "",
                               cat("it is Ready and still has the taint ", api::kOutOfServiceTaint,
                                   ", so no pod is placed on it"));
    health.verdict = Verdict::Warning;
    health.remedy = "take the taint away when the machine is back for good";
    health.command = cat("kubectl taint node ", node, " ", api::kOutOfServiceTaint, "-");
    return health;
  }
  // A node may serve although it lacks something: its clique was known before its fabric could not
  // be read any more, for one.
  for (const api::Condition& condition : report->status.conditions) {
    if (condition.type == api::kConditionCanServe) continue;
    if (condition.status != api::ConditionStatus::False) continue;
    NodeHealth health = unwell(Cause::Lacks, condition.reason, condition.message);
    health.verdict = Verdict::Warning;
    return health;
  }
  return {};
}

std::string text_of(const NodeHealth& health) {
  return health.reason.empty() ? health.message : cat(health.reason, ": ", health.message);
}

}  // namespace cdom::plugin
