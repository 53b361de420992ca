#include "core/node/summary.h"

#include <algorithm>
#include <set>

#include "compute_domain/base/text.h"
#include "compute_domain/core/reasons.h"

namespace cdom::core {

namespace {

using api::DaemonState;
using base::cat;

// From the worst.
constexpr DaemonState kBySeverity[] = {DaemonState::Failed, DaemonState::Recovering,
                                       DaemonState::Starting, DaemonState::Ready,
                                       DaemonState::None};

const api::GroupReport* worst_of(const api::ComputeDomainNodeReport& report) {
  for (const DaemonState state : kBySeverity) {
    const auto it = std::ranges::find(report.groups, state, &api::GroupReport::state);
    if (it != report.groups.end()) return &*it;
  }
  return nullptr;
}

void say(std::vector<std::string>& sentences, const std::string& sentence) {
  if (!sentence.empty() && std::ranges::find(sentences, sentence) == sentences.end()) {
    sentences.push_back(sentence);
  }
}

// Why it offers no devices comes first: then nothing comes to it.
std::string message_of(const api::ComputeDomainNodeReport& report) {
  std::vector<std::string> sentences;
  const auto* can_serve = api::find_condition(report.conditions, api::kConditionCanServe);
  if (can_serve != nullptr && can_serve->status == api::ConditionStatus::False) {
    say(sentences, can_serve->message);
  }
  bool tells_of_fabric =
      can_serve != nullptr && can_serve->reason == Reason("FabricUnreadable").name();
  for (const api::GroupReport& group : report.groups) {
    if (group.state == DaemonState::Stopped) continue;
    say(sentences, group.message);
    tells_of_fabric |= group.message.find(report.fabric_error) != std::string::npos;
  }
  for (const api::PendingClaim& claim : report.pending_claims) {
    say(sentences, cat("claim UID ", claim.uid, ": ", claim.message));
  }
  if (!report.fabric_error.empty() && !tells_of_fabric) {
    say(sentences, cat("the fabric cannot be read: ", report.fabric_error));
  }
  return base::join(sentences, "; ");
}

}  // namespace

api::ReportSummary summary_of(const api::ComputeDomainNodeReport& report) {
  api::ReportSummary summary;
  std::set<std::string> domains, unreachable;
  for (const api::GroupReport& group : report.groups) {
    if (group.state == DaemonState::Stopped) continue;
    domains.insert(group.domains.begin(), group.domains.end());
    unreachable.insert(group.unreachable.begin(), group.unreachable.end());
  }
  summary.domains = base::list_names({domains.begin(), domains.end()}, 3);
  summary.unreachable = base::list_names({unreachable.begin(), unreachable.end()}, 3);
  if (const api::GroupReport* worst = worst_of(report)) {
    summary.state = worst->state;
    summary.since = worst->since;
  }
  summary.message = message_of(report);
  return summary;
}

}  // namespace cdom::core
