#include "compute_domain/plugin/timeline.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "compute_domain/base/text.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/status.h"
#include "plugin/age.h"
#include "plugin/facts.h"
#include "plugin/reports.h"

namespace cdom::plugin {

namespace {

using base::cat;

// The same thing of several objects: when it came to each of them.
class Milestone {
 public:
  void add(const std::optional<base::Time>& time, const std::string& name) {
    if (time) times_.emplace(*time, name);
  }
  [[nodiscard]] bool empty() const { return times_.empty(); }
  [[nodiscard]] std::optional<base::Time> first() const {
    return empty() ? std::nullopt : std::optional(times_.begin()->first);
  }
  [[nodiscard]] std::optional<base::Time> last() const {
    return empty() ? std::nullopt : std::optional(times_.rbegin()->first);
  }
  // The last that is not after `end`, to the second: most times are no finer.
  [[nodiscard]] std::optional<base::Time> last_until(base::Time end) const {
    const auto after =
        times_.lower_bound(std::chrono::floor<std::chrono::seconds>(end) + std::chrono::seconds(1));
    return after == times_.begin() ? std::nullopt : std::optional(std::prev(after)->first);
  }

  // One entry where all came within a second, else one for the first and one for the last.
  void tell(const std::string& kind, const std::string& what,
            std::vector<TimelineEntry>& entries) const {
    if (empty()) return;
    const std::string kinds = times_.size() == 1 ? kind : cat(kind, "s");
    const bool at_once = between(*first(), *last()) < std::chrono::seconds(1);
    if (times_.size() == 1 || at_once) {
      entries.push_back({*first(), cat(kinds, " ", names()), what});
      return;
    }
    const std::string of = cat(" of ", times_.size(), " ", kinds);
    entries.push_back(
        {*first(), cat(kind, " ", times_.begin()->second), cat(what, ", the first", of)});
    entries.push_back(
        {*last(), cat(kind, " ", times_.rbegin()->second), cat(what, ", the last", of)});
  }

 private:
  [[nodiscard]] std::string names() const {
    std::vector<std::string> names;
    names.reserve(times_.size());
    for (const auto& [time, name] : times_) names.push_back(name);
    return base::list_names(names, 3);
  }

  std::multimap<base::Time, std::string> times_;
};

struct Milestones {
  Milestone created, scheduled, running;  // pods
  Milestone claims, lists, daemons;
};

std::optional<base::Time> since_true(const api::PodState& pod, std::string_view type) {
  const api::PodCondition* condition = pod.condition(type);
  const bool holds = condition != nullptr && condition->status == api::ConditionStatus::True;
  return holds ? condition->since : std::nullopt;
}

// Pods with a claim of the domain, and those that only name its template yet.
std::vector<const api::PodState*> pods_of(const Facts& facts, const api::ComputeDomain& domain) {
  std::vector<const api::PodState*> pods;
  if (domain.spec.channel) {
    pods = facts.pods_naming({domain.meta.ns, domain.spec.channel->template_name});
  }
  for (const api::ResourceClaim* claim : facts.claims_of(domain)) {
    for (const api::PodState* pod : facts.pods_of(*claim)) {
      if (std::ranges::find(pods, pod) == pods.end()) pods.push_back(pod);
    }
  }
  return pods;
}

void add_pods(const std::vector<const api::PodState*>& pods, Milestones& milestones) {
  for (const api::PodState* pod : pods) {
    const std::string& name = pod->meta.name;
    milestones.created.add(pod->meta.creation_time, name);
    milestones.scheduled.add(since_true(*pod, "PodScheduled"), name);
    for (const api::ContainerState& container : pod->containers) {
      milestones.running.add(container.started, name);
      break;
    }
  }
}

void add_nodes(const Facts& facts, const DomainFacts& domain, Milestones& milestones) {
  for (const core::MemberView& member : domain.readiness.members) {
    const auto* report = facts.report(member.membership.node);
    if (report == nullptr || !member.membership.clique) continue;
    const auto* group = api::find_group(
        report->status, core::group_id(core::group_of(domain.object->meta.uid, member.membership)));
    if (group == nullptr || group->state != api::DaemonState::Ready) continue;
    milestones.daemons.add(group->since, member.membership.node);
  }
  for (const core::StoredList& stored : domain.world.lists) {
    if (core::is_own(stored.meta, domain.object->meta.uid)) {
      milestones.lists.add(stored.meta.creation_time, stored.meta.name);
    }
  }
}

void add_events(const Facts& facts, const std::string& uid, const std::string& subject,
                std::vector<TimelineEntry>& entries) {
  for (const api::Occurrence* event : facts.events_on(uid)) {
    if (!event->begin()) continue;
    const bool repeats = event->end() && *event->end() > *event->begin();
    const std::string also =
        !repeats ? ""
                 : cat(" (", event->count > 1 ? cat(event->count, " times, ") : "", "the last ",
                       base::short_duration(between(*event->begin(), *event->end())), " later)");
    entries.push_back({*event->begin(), subject, cat(event->reason, ": ", event->message, also),
                       event->type == "Warning", /*is_event=*/true});
  }
}

// An API server keeps Events for an hour by default (--event-ttl).
constexpr auto kEventsLast = std::chrono::hours(1);

// The first time that is known: a condition tells its last change only, Events go after an hour.
// Not before the first pod, where one is known since: before it, it was Ready with earlier pods.
std::optional<base::Time> first_ready(const Facts& facts, const DomainFacts& domain,
                                      const std::optional<base::Time>& first_pod) {
  std::optional<base::Time> ready, earlier;
  const auto add = [&](const std::optional<base::Time>& time) {
    if (!time) return;
    // Some times are in whole seconds.
    const bool is_before =
        first_pod && *time < std::chrono::floor<std::chrono::seconds>(*first_pod);
    auto& first = is_before ? earlier : ready;
    if (!first || *time < *first) first = time;
  };
  const api::Condition* condition = domain.condition(core::kConditionReady);
  if (condition != nullptr && condition->status == api::ConditionStatus::True) {
    add(condition->last_transition);
  }
  for (const api::Occurrence* event : facts.events_on(domain.object->meta.uid)) {
    if (event->reason != core::Reason("AllNodesReady").name()) continue;
    add(event->begin());
    add(event->end());
  }
  return ready ? ready : earlier;
}

void add_creation(const Facts& facts, const api::ComputeDomain& object,
                  std::vector<TimelineEntry>& entries) {
  const auto add = [&](const std::optional<base::Time>& time, const std::string& what) {
    if (time) entries.push_back({*time, "ComputeDomain", what});
  };
  add(object.meta.creation_time, "created");
  if (object.spec.channel) {
    const std::string& name = object.spec.channel->template_name;
    if (const auto* made = facts.claim_template({object.meta.ns, name})) {
      add(made->meta.creation_time, cat("its ResourceClaimTemplate ", name, " created"));
    }
  }
  add(object.meta.deletion_time, "deleted; it ends when no pod uses it any more");
}

void add_status(const DomainFacts& domain, std::vector<TimelineEntry>& entries) {
  if (!domain.status) return;
  for (const api::ComputeDomainNodeStatus& node : domain.status->nodes) {
    const auto add = [&](const std::optional<api::DaemonFailure>& failure) {
      if (!failure) return;
      entries.push_back({failure->time, cat("node ", node.name),
                         cat("its IMEX daemon failed: ", failure->message), true});
    };
    add(node.last_failure);
    if (node.last_loss != node.last_failure) add(node.last_loss);
  }
  if (const api::Condition* ready = domain.condition(core::kConditionReady)) {
    const bool is_ready = ready->status == api::ConditionStatus::True;
    entries.push_back({ready->last_transition, "ComputeDomain",
                       cat(is_ready ? "Ready: " : "not Ready: ", ready->message), !is_ready});
  }
}

std::vector<TimelinePhase> phases_of(const Milestones& milestones,
                                     const std::optional<base::Time>& ready) {
  std::vector<TimelinePhase> phases;
  std::optional<base::Time> at = milestones.created.first();
  const auto add = [&](const char* key, const char* name, const std::optional<base::Time>& end) {
    // What came first of two things that one would expect in another order took no time.
    if (!at || !end) return;
    phases.push_back({key, name, std::max(between(*at, *end), base::Duration::zero())});
    at = std::max(*at, *end);
  };
  if (!ready || (at && *ready < std::chrono::floor<std::chrono::seconds>(*at))) return phases;
  // What came after it did not keep it from being Ready: a pod that took another one's place.
  add("PodsCreated", "pods created", milestones.created.last_until(*ready));
  add("PodsScheduled", "pods scheduled", milestones.scheduled.last_until(*ready));
  add("DaemonsReady", "IMEX daemons READY", milestones.daemons.last_until(*ready));
  add("DomainReady", "ComputeDomain Ready", ready);
  return phases;
}

}  // namespace

base::Result<TimelineReport> timeline(const ClusterView& view, const api::ObjectName& name) {
  const Facts facts(view);
  const api::ComputeDomain* object = facts.domain(name);
  if (object == nullptr) return no_such_domain(view, name);
  return timeline_of(facts, facts.facts_of(*object));
}

TimelineReport timeline_of(const Facts& facts, const DomainFacts& domain) {
  const api::ComputeDomain* object = domain.object;
  const std::vector<const api::PodState*> pods = pods_of(facts, *object);

  Milestones milestones;
  std::vector<TimelineEntry> events;
  add_pods(pods, milestones);
  add_nodes(facts, domain, milestones);
  TimelineReport report;
  report.domain = api::to_string(api::name_of(object->meta));
  report.zero =
      milestones.created.first().value_or(object->meta.creation_time.value_or(facts.now()));
  std::vector<TimelineEntry>& entries = report.entries;
  add_creation(facts, *object, entries);
  for (const api::ResourceClaim* claim : facts.claims_of(*object)) {
    milestones.claims.add(claim->meta.creation_time, claim->meta.name);
    add_events(facts, claim->meta.uid, cat("claim ", claim->meta.name), events);
  }
  for (const api::PodState* pod : pods) {
    add_events(facts, pod->meta.uid, cat("pod ", pod->meta.name), events);
  }
  add_events(facts, object->meta.uid, "ComputeDomain", events);
  std::ranges::stable_sort(events, {}, &TimelineEntry::time);
  milestones.created.tell("pod", "created", entries);
  milestones.claims.tell("claim", "created", entries);
  milestones.scheduled.tell("pod", "scheduled", entries);
  milestones.lists.tell("node list", "written", entries);
  milestones.daemons.tell("node", "IMEX daemon READY", entries);
  milestones.running.tell("pod", "container started", entries);
  add_status(domain, entries);
  entries.insert(entries.end(), events.begin(), events.end());
  // Most times are in whole seconds: what came within one stays in the order in which it comes
  // about.
  std::ranges::stable_sort(entries, {}, [](const TimelineEntry& entry) {
    return std::chrono::floor<std::chrono::seconds>(entry.time);
  });
  report.has_pods = !milestones.created.empty();
  report.ready = first_ready(facts, domain, milestones.created.first());
  report.may_have_been_ready = !report.ready && object->meta.creation_time &&
                               between(*object->meta.creation_time, facts.now()) > kEventsLast;
  report.phases = phases_of(milestones, report.ready);
  return report;
}

}  // namespace cdom::plugin
