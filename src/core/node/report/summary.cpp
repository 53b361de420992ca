#include "core/node/report/summary.h"

#include <algorithm>
#include <optional>
#include <set>

#include "compute_domain/base/text.h"
#include "compute_domain/core/reasons.h"

namespace cdom::core {

namespace {

using api::DaemonState;
using base::cat;

// The state of a member by its daemon, as reasons.h weighs it; nullopt: there is no daemon to
// report.
std::optional<MemberState> member_state(DaemonState state) {
  switch (state) {
    case DaemonState::Failed:
      return MemberState("ImexFailed");
    case DaemonState::Recovering:
      return MemberState("Recovering");
    case DaemonState::Starting:
      return MemberState("Starting");
    case DaemonState::Ready:
      return MemberState("Ready");
    case DaemonState::None:
    case DaemonState::Stopped:
      return std::nullopt;
  }
  return std::nullopt;
}

// The first one among equals; nullptr: every group has stopped.
const api::ImexGroupReport* worst_of(const api::ComputeDomainNodeReport& report) {
  const api::ImexGroupReport* worst = nullptr;
  for (const api::ImexGroupReport& group : report.groups) {
    if (group.state == DaemonState::Stopped) continue;
    const auto state = member_state(group.state);
    const auto before = worst == nullptr ? std::nullopt : member_state(worst->state);
    const bool is_worse = state && (!before || state->is_worse_than(*before));
    if (worst == nullptr || is_worse) worst = &group;
  }
  return worst;
}

void say(std::vector<std::string>& sentences, const std::string& sentence) {
  if (!sentence.empty() && std::ranges::find(sentences, sentence) == sentences.end()) {
    sentences.push_back(sentence);
  }
}

// The reason why the node offers no devices comes first, as it then gets no claims.
std::string message_of(const api::ComputeDomainNodeReport& report) {
  std::vector<std::string> sentences;
  const auto* can_serve = api::find_condition(report.conditions, api::kConditionCanServe);
  if (can_serve != nullptr && can_serve->status == api::ConditionStatus::False) {
    say(sentences, can_serve->message);
  }
  bool tells_of_fabric =
      can_serve != nullptr && can_serve->reason == Reason("FabricUnreadable").name();
  for (const api::ImexGroupReport& group : report.groups) {
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
  for (const api::ImexGroupReport& group : report.groups) {
    if (group.state == DaemonState::Stopped) continue;
    domains.insert(group.domains.begin(), group.domains.end());
    unreachable.insert(group.unreachable.begin(), group.unreachable.end());
  }
  summary.domains = base::list_names({domains.begin(), domains.end()}, 3);
  summary.unreachable = base::list_names({unreachable.begin(), unreachable.end()}, 3);
  if (const api::ImexGroupReport* worst = worst_of(report)) {
    summary.state = worst->state;
    summary.since = worst->since;
  }
  summary.message = message_of(report);
  return summary;
}

}  // namespace cdom::core
