// Events of a domain, for what changed between two statuses.
#include <algorithm>
#include <set>

#include "compute_domain/base/text.h"
#include "compute_domain/core/status.h"
#include "core/memory_lost.h"
#include "core/severity.h"

namespace cdom::core {

namespace {

using base::cat;

// Why a domain may stop being Ready without anything being wrong: its pods end. (A daemon that
// fails says so; one that has stopped, or starts, does as it was told.)
bool is_calm(std::string_view reason) {
  return reason == to_string(MemberState::Starting) || reason == "WaitingForPods" ||
         reason == "WaitingForNodes" || reason == "Deleting" || reason == kServedByPredecessor;
}

// "NodeImexFailed", "NodeRebooted".
std::string reason_of_event(MemberState state) {
  const std::string_view name = to_string(state);
  return name.starts_with("Node") ? std::string(name) : cat("Node", name);
}

const api::ComputeDomainNodeStatus* find_node(const api::ComputeDomainStatus& status,
                                              std::string_view name) {
  const auto it = std::ranges::find(status.nodes, name, &api::ComputeDomainNodeStatus::name);
  return it == status.nodes.end() ? nullptr : &*it;
}

bool tells_of_loss(const std::string& text) { return text.find(kMemoryLost) != std::string::npos; }

// Those whose claims make its node a member.
std::vector<api::ObjectReference> pods_of(const MemberView& member, const World& world) {
  std::vector<api::ObjectReference> pods;
  for (const api::ResourceClaim& claim : world.view.claims) {
    if (!std::ranges::binary_search(member.membership.claims, claim.meta.uid)) continue;
    for (const api::ClaimConsumer& consumer : claim.reserved_for) {
      const bool is_there = !is_shared(claim) || consumer.node == member.membership.node;
      if (consumer.resource != "pods" || !is_there) continue;
      pods.push_back({"v1", "Pod", claim.meta.ns, consumer.name, consumer.uid});
    }
  }
  std::ranges::sort(pods, {}, [](const api::ObjectReference& pod) { return pod.name; });
  return pods;
}

std::string names_text(const std::vector<api::ObjectReference>& pods) {
  std::vector<std::string> names;
  names.reserve(pods.size());
  for (const api::ObjectReference& pod : pods) names.push_back(pod.name);
  return names.empty() ? "" : cat(": ", base::list_names(names));
}

// Members that were not ready before, and for which there has been an Event then.
bool was_told(const MemberView& member, const api::ComputeDomainStatus& before) {
  const api::ComputeDomainNodeStatus* old = find_node(before, member.membership.node);
  return old != nullptr && !old->ready && is_severe(old->reason);
}

// Whether the Ready condition has the reason of members that have an Event in this plan (`told`),
// or had one in an earlier one: one bad reason follows another, or a lesser one shows once the
// worse one is gone.
bool is_told_of_members(const api::Condition& ready, const api::ComputeDomainStatus& before,
                        const Readiness& readiness, const std::set<std::string>& told) {
  if (ready.reason == "MembersNotConnected") {
    const auto knows = [&](const std::string& node) {
      return std::ranges::any_of(readiness.members, [&](const MemberView& member) {
        return member.membership.node == node && was_told(member, before);
      });
    };
    return std::ranges::all_of(readiness.open_pairs, [&](const OpenPair& pair) {
      return !pair.told || knows(pair.from) || knows(pair.to);
    });
  }
  bool is_of_members = false;
  for (const MemberView& member : readiness.members) {
    if (member.state == MemberState::Ready || to_string(member.state) != ready.reason) continue;
    is_of_members = true;
    if (!told.contains(member.membership.node) && !was_told(member, before)) return false;
  }
  return is_of_members;
}

}  // namespace

std::vector<RecordEvent> events_for(const World& world, const api::ComputeDomainStatus& before,
                                    const api::ComputeDomainStatus& after,
                                    const Readiness& readiness) {
  const api::ComputeDomain& domain = *world.view.domain;
  std::vector<RecordEvent> events;
  const auto record = [&](bool good, std::string reason, std::string message) {
    events.push_back(
        {reference_to(domain), good ? "Normal" : "Warning", std::move(reason), std::move(message)});
  };
  const api::Condition* was_ready = api::find_condition(before.conditions, kConditionReady);
  bool was_in_trouble = was_ready != nullptr && is_severe(was_ready->reason);
  std::set<std::string> told;  // nodes
  for (const MemberView& member : readiness.members) {
    const api::ComputeDomainNodeStatus* old = find_node(before, member.membership.node);
    if (old == nullptr) continue;
    const bool ready = member.state == MemberState::Ready;
    // What was found after a lesser thing is news: first the peers miss a machine, then its kubelet
    // is silent.
    const bool worse = !old->ready && !ready && is_worse(to_string(member.state), old->reason);
    if ((old->ready && !ready) || worse) {
      told.insert(member.membership.node);
      const std::vector<api::ObjectReference> pods = tells_of_loss(member.detail)
                                                         ? pods_of(member, world)
                                                         : std::vector<api::ObjectReference>{};
      record(is_calm(to_string(member.state)), reason_of_event(member.state),
             cat("node ", member.membership.node, ": ", member.detail, names_text(pods)));
      for (const api::ObjectReference& pod : pods) {
        events.push_back({pod, "Warning", "ImexMemoryLost",
                          cat("the IMEX daemon of node ", member.membership.node,
                              " has ended, and with it the memory that this pod imported over "
                              "NVLink; delete the pod, so that it starts again")});
      }
    } else if (!old->ready && ready && was_in_trouble) {
      record(true, "NodeReady",
             cat("node ", member.membership.node, " is ready again",
                 tells_of_loss(old->message)
                     ? cat("; ", kMemoryLost, names_text(pods_of(member, world)))
                     : ""));
    }
  }
  for (const api::Condition& condition : after.conditions) {
    const bool is_ready = condition.type == kConditionReady;
    if (!is_ready && condition.type != kConditionTemplate && condition.type != kConditionCliques &&
        condition.type != kConditionPlaced && condition.type != kConditionWrites) {
      continue;
    }
    if (is_ready && condition.reason == kWriteRefused) continue;  // as WritesAccepted tells
    if (is_ready && is_told_of_members(condition, before, readiness, told)) continue;
    const api::Condition* old = api::find_condition(before.conditions, condition.type);
    const bool good = condition.status == api::ConditionStatus::True;
    const bool changed = old == nullptr || old->status != condition.status;
    const bool reason_changed = old == nullptr || old->reason != condition.reason;
    // The status alone reports what is normal while a domain forms or waits.
    const bool first_good_news = old == nullptr && good && !is_ready;
    const bool normal_bad_news =
        !good && is_ready && !is_severe(condition.reason) && (old == nullptr || !changed);
    const bool pending =
        condition.reason == "Choosing" ||
        (condition.type == kConditionTemplate &&
         (condition.reason == "Pending" || condition.reason == "NotPlaced"));  // as Placed tells
    if (first_good_news || normal_bad_news || pending) continue;
    if (changed || (reason_changed && !good)) {
      record(good || (is_ready && is_calm(condition.reason)),
             is_ready && good ? "Ready" : condition.reason, condition.message);
    }
  }
  return events;
}

}  // namespace cdom::core
