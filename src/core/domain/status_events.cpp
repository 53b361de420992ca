// Events of a domain, for what has changed between two statuses: one for each fact.
//
// A member's loss is one fact with the Ready condition that goes because of it, and its cure with
// the one that comes back. Where Ready says what another condition says, that one has the Event.
#include <algorithm>
#include <set>
#include <utility>

#include "compute_domain/base/text.h"
#include "compute_domain/core/memory_lost.h"
#include "compute_domain/core/status.h"

namespace cdom::core {

namespace {

using base::cat;

bool is_true(const api::Condition& condition) {
  return condition.status == api::ConditionStatus::True;
}

bool is_ready(const api::Condition& condition) { return condition.type == kConditionReady; }

bool is_severe(std::string_view reason) {
  const auto known = Reason::find(reason);
  return known && known->is_severe();
}

// nullopt: it is another writer's condition, or the status alone says such a thing.
std::optional<Reason> reason_with_event(const api::Condition& condition) {
  constexpr std::string_view kOurs[] = {kConditionReady, kConditionTemplate, kConditionCliques,
                                        kConditionPlaced, kConditionWrites};
  if (std::ranges::find(kOurs, condition.type) == std::end(kOurs)) return std::nullopt;
  const auto reason = Reason::find(condition.reason);
  return reason && reason->event() != EventType::None ? reason : std::nullopt;
}

// What is normal while a domain forms or waits is news only when it has ended Ready.
bool is_news(const api::Condition* before, const api::Condition& now) {
  const bool weighs = !is_ready(now) || is_severe(now.reason);
  if (before == nullptr) return is_true(now) ? is_ready(now) : weighs;
  if (before->status != now.status) return true;
  return before->reason != now.reason && !is_true(now) && weighs;
}

// Without what another condition says in the same words.
std::string own_words(const api::Condition& ready, const api::ComputeDomainStatus& status) {
  std::string words = ready.message;
  for (const api::Condition& other : status.conditions) {
    if (is_ready(other) || is_true(other) || !reason_with_event(other)) continue;
    if (words == other.message) return "";
    const std::string quoted = "; " + other.message;
    if (words.ends_with(quoted)) words.resize(words.size() - quoted.size());
  }
  return words;
}

// Those that lost memory with the member's last loss. A node names claims of its own only, whatever
// it reports.
std::vector<api::ObjectReference> losers_of(const MemberView& member, const World& world) {
  const auto& loss = loss_of(member);
  std::vector<api::ObjectReference> pods;
  for (const api::ResourceClaim& claim : world.view.claims) {
    if (!std::ranges::binary_search(member.membership.claims, claim.meta.uid)) continue;
    if (!std::ranges::binary_search(member.lost_claims, claim.meta.uid)) continue;
    for (const api::ClaimConsumer& consumer : claim.reserved_for) {
      const bool is_there = !is_shared(claim) || consumer.node == member.membership.node;
      const bool came_later = loss && consumer.created && *consumer.created > loss->time;
      if (consumer.resource != "pods" || !is_there || came_later) continue;
      pods.push_back({"v1", "Pod", claim.meta.ns, consumer.name, consumer.uid});
    }
  }
  std::ranges::sort(pods, {}, [](const api::ObjectReference& pod) { return pod.name; });
  return pods;
}

// ": pod-a, pod-b".
std::string names_text(const std::vector<api::ObjectReference>& pods) {
  std::vector<std::string> names;
  names.reserve(pods.size());
  for (const api::ObjectReference& pod : pods) names.push_back(pod.name);
  return names.empty() ? "" : cat(": ", base::list_names(names));
}

class News {
 public:
  News(const World& world, const api::ComputeDomainStatus& before,
       const api::ComputeDomainStatus& after, const Readiness& readiness)
      : world_(world), before_(before), after_(after), readiness_(readiness) {}

  std::vector<RecordEvent> events() && {
    for (const MemberView& member : readiness_.members) {
      if (is_lost(member)) tell_loss(member);
      if (has_lost_memory(member)) tell_losers(member);
    }
    const std::string cures = cures_text();
    const bool becomes_ready = after_.ready && !before_.ready;
    if (!cures.empty() && !becomes_ready) tell("NodeReady", cures);
    for (const api::Condition& condition : after_.conditions) {
      const auto reason = reason_with_event(condition);
      if (!reason || !is_news(api::find_condition(before_.conditions, condition.type), condition)) {
        continue;
      }
      if (!is_ready(condition)) {
        tell(*reason, condition.message);
      } else if (is_true(condition)) {
        tell(*reason, cat(condition.message, cures.empty() ? "" : "; ", cures));
      } else if (const std::string words = own_words(condition, after_);
                 !words.empty() && !members_are_reported(*reason)) {
        tell(*reason, words);
      }
    }
    return std::move(events_);
  }

 private:
  void tell(Reason reason, std::string message) {
    events_.push_back(event_on(reference_to(*world_.view.domain), reason, std::move(message)));
  }

  // nullptr: it has come since, and Ready says how it is.
  [[nodiscard]] const api::ComputeDomainNodeStatus* before(const MemberView& member) const {
    const auto it = std::ranges::find(before_.nodes, member.membership.node,
                                      &api::ComputeDomainNodeStatus::name);
    return it == before_.nodes.end() ? nullptr : &*it;
  }

  // Whether memory was lost with its daemon that the status does not tell of yet, whatever the
  // member is now.
  [[nodiscard]] bool has_lost_memory(const MemberView& member) const {
    const api::ComputeDomainNodeStatus* old = before(member);
    if (old == nullptr) return false;
    // An agent of before 0.2 carries the words on while the next daemons fail, with a later time.
    if (!member.last_loss && !old->ready && tells_of_loss(old->message)) return false;
    const auto& loss = loss_of(member);
    if (!loss) return tells_of_loss(member.detail) && is_lost(member);
    // By the node's clock, which may be ahead of ours, it is no earlier than its last failure.
    base::Time now = world_.now;
    if (member.last_failure) now = std::max(now, member.last_failure->time);
    // The status keeps whole seconds.
    return lacks_loss(*old, std::chrono::floor<std::chrono::seconds>(loss->time), now);
  }

  // What is found after a lesser thing is news too: first the peers miss a machine, then its
  // kubelet is silent.
  [[nodiscard]] bool is_lost(const MemberView& member) const {
    const api::ComputeDomainNodeStatus* old = before(member);
    if (old == nullptr || member.state == "Ready") return false;
    if (old->ready) return true;
    // It hung, and has ended now.
    if (tells_of_loss(member.detail) && member.last_loss && has_lost_memory(member)) return true;
    const auto reason = Reason::find(old->reason);
    return reason && reason->is_severe() && member.state.is_worse_than(*reason);
  }

  void tell_loss(const MemberView& member) {
    const std::string& node = member.membership.node;
    std::vector<api::ObjectReference> pods;
    if (tells_of_loss(member.detail)) pods = losers_of(member, world_);
    lost_.insert(node);
    tell(member.state, cat("node ", node, ": ", member.detail, names_text(pods)));
  }

  void tell_losers(const MemberView& member) {
    const std::string& node = member.membership.node;
    for (const api::ObjectReference& pod : losers_of(member, world_)) {
      events_.push_back(
          event_on(pod, "ImexMemoryLost",
                   cat("the IMEX daemon of node ", node,
                       " has ended, and with it the memory that this pod imported over NVLink; "
                       "delete the pod, so that it starts again")));
    }
  }

  // "nodes n2, n3 are ready again"; "" also for nodes whose trouble was never reported.
  [[nodiscard]] std::string cures_text() const {
    const api::Condition* was_ready = api::find_condition(before_.conditions, kConditionReady);
    if (was_ready == nullptr || !is_severe(was_ready->reason)) return "";
    std::vector<std::string> nodes;
    std::vector<api::ObjectReference> pods;
    bool have_lost_memory = false;
    for (const MemberView& member : readiness_.members) {
      const api::ComputeDomainNodeStatus* old = before(member);
      if (member.state != "Ready" || old == nullptr || old->ready) continue;
      nodes.push_back(member.membership.node);
      if (!tells_of_loss(old->message)) continue;
      have_lost_memory = true;
      for (api::ObjectReference& pod : losers_of(member, world_)) pods.push_back(std::move(pod));
    }
    if (nodes.empty()) return "";
    return cat(nodes.size() == 1 ? "node " : "nodes ", base::list_names(nodes),
               nodes.size() == 1 ? " is ready again" : " are ready again",
               have_lost_memory ? cat("; ", kMemoryLost, names_text(pods)) : "");
  }

  // It was not ready before, and there has been an Event then.
  [[nodiscard]] bool was_reported(const MemberView& member) const {
    const api::ComputeDomainNodeStatus* old = before(member);
    return old != nullptr && !old->ready && is_severe(old->reason);
  }

  // Whether Ready is False for members that have an Event in this plan, or had one in an earlier
  // one: one bad reason follows another, or a lesser one shows once the worse one is gone.
  [[nodiscard]] bool members_are_reported(Reason ready) const {
    if (ready == "MembersNotConnected") {
      return std::ranges::all_of(readiness_.open_pairs, [&](const OpenPair& pair) {
        return !pair.is_reported || was_reported(pair.from) || was_reported(pair.to);
      });
    }
    bool is_of_members = false;
    for (const MemberView& member : readiness_.members) {
      if (member.state == "Ready" || member.state.name() != ready.name()) continue;
      is_of_members = true;
      if (!lost_.contains(member.membership.node) && !was_reported(member)) return false;
    }
    return is_of_members;
  }
  [[nodiscard]] bool was_reported(const std::string& node) const {
    return std::ranges::any_of(readiness_.members, [&](const MemberView& member) {
      return member.membership.node == node && was_reported(member);
    });
  }

  const World& world_;
  const api::ComputeDomainStatus& before_;
  const api::ComputeDomainStatus& after_;
  const Readiness& readiness_;
  std::set<std::string> lost_;  // nodes with an Event in this plan
  std::vector<RecordEvent> events_;
};

}  // namespace

std::vector<RecordEvent> events_for(const World& world, const api::ComputeDomainStatus& before,
                                    const api::ComputeDomainStatus& after,
                                    const Readiness& readiness) {
  return News(world, before, after, readiness).events();
}

}  // namespace cdom::core
