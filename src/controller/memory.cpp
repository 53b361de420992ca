#include "compute_domain/controller/memory.h"

#include <algorithm>
#include <utility>

#include "compute_domain/base/daemon_policy.h"

namespace cdom::controller {

namespace {

// A text stays for so long before another one takes its place.
constexpr base::Duration kRefusalStands = std::chrono::seconds(30);

// From when on a failure lasts.
constexpr int kLastingFailures = 3;
constexpr base::Duration kLastingFailure = std::chrono::seconds(30);

// Each is sent after the one before was not stored, as far as the watch shows.
constexpr std::size_t kMostUnheard = 4;

template <class Map>
std::optional<typename Map::mapped_type> value_at(const Map& map,
                                                  const typename Map::key_type& key) {
  const auto it = map.find(key);
  return it == map.end() ? std::nullopt : std::optional(it->second);
}

// What is of the domain's own groups.
template <class T>
std::map<core::ImexGroupKey, T> of_domain(const std::map<core::ImexGroupKey, T>& all,
                                          const std::string& uid) {
  std::map<core::ImexGroupKey, T> own;
  for (auto it = all.lower_bound({uid, ""}); it != all.end() && it->first.domain_uid == uid; ++it) {
    own.insert(*it);
  }
  return own;
}

}  // namespace

void Memory::domain_seen(const std::string& uid, base::Duration elapsed) {
  const std::scoped_lock lock(mutex_);
  domains_seen_.try_emplace(uid, elapsed);
}

base::Duration Memory::domain_known_for(const std::string& uid, base::Duration elapsed) const {
  const std::scoped_lock lock(mutex_);
  return elapsed - value_at(domains_seen_, uid).value_or(elapsed);
}

bool Memory::is_forgotten(const std::string& uid) const {
  return !uid.empty() && !domains_seen_.contains(uid);
}

void Memory::status_written(const std::string& uid, base::Time when) {
  const std::scoped_lock lock(mutex_);
  if (is_forgotten(uid)) return;
  status_written_[uid] = when;
  unreported_list_.erase(uid);
  unheard_.erase(uid);
}

void Memory::status_unheard(const std::string& uid, const api::ComputeDomainStatus& status,
                            std::vector<core::RecordEvent> events) {
  const std::scoped_lock lock(mutex_);
  if (is_forgotten(uid) || events.empty()) return;
  std::vector<Unheard>& unheard = unheard_[uid];
  const bool is_known = std::ranges::find(unheard, status, &Unheard::status) != unheard.end();
  if (!is_known && unheard.size() < kMostUnheard) unheard.push_back({status, std::move(events)});
}

std::vector<core::RecordEvent> Memory::events_of_stored(const std::string& uid,
                                                        const api::ComputeDomainStatus& stored) {
  const std::scoped_lock lock(mutex_);
  const auto it = unheard_.find(uid);
  if (it == unheard_.end()) return {};
  const auto heard = std::ranges::find(it->second, stored, &Unheard::status);
  if (heard == it->second.end()) return {};
  std::vector<core::RecordEvent> events = std::move(heard->events);
  unheard_.erase(it);
  // When it was stored nobody knows.
  if (stored.ready) forming_since_.erase(uid);
  return events;
}

std::optional<base::Time> Memory::status_written(const std::string& uid) const {
  const std::scoped_lock lock(mutex_);
  return value_at(status_written_, uid);
}

void Memory::daemon_changed(const std::string& node, base::Duration now) {
  using base::DaemonPolicy;
  const std::scoped_lock lock(mutex_);
  std::erase_if(restless_,
                [&](const auto& known) { return now - known.second.due >= DaemonPolicy::kQuiet; });
  const auto [it, is_first] = restless_.try_emplace(node);
  Restless& row = it->second;
  const base::Duration next = row.due + DaemonPolicy::kSignalInterval;
  if (is_first || now >= next) {
    row.due = std::max(now, row.due + DaemonPolicy::signal_gap(row.changes));
    row.until = row.due;
    ++row.changes;
  } else if (row.due <= now) {
    row.until = next;
  }
}

base::Duration Memory::restless_for(const std::string& node, base::Duration now) const {
  const std::scoped_lock lock(mutex_);
  const auto it = restless_.find(node);
  if (it == restless_.end()) return {};
  return std::max(it->second.until - now, base::Duration::zero());
}

void Memory::list_written(const core::ImexGroupKey& group, base::Time when) {
  const std::scoped_lock lock(mutex_);
  if (is_forgotten(group.domain_uid)) return;
  list_written_[group] = when;
  list_held_.erase(group);
  if (!group.domain_uid.empty()) unreported_list_.try_emplace(group.domain_uid, when);
}

void Memory::list_awaited(const std::string& uid, base::Time when) {
  const std::scoped_lock lock(mutex_);
  if (!is_forgotten(uid)) unreported_list_.try_emplace(uid, when);
}

std::optional<base::Time> Memory::list_written(const core::ImexGroupKey& group) const {
  const std::scoped_lock lock(mutex_);
  return value_at(list_written_, group);
}

std::map<core::ImexGroupKey, base::Time> Memory::lists_written(const std::string& uid) const {
  const std::scoped_lock lock(mutex_);
  return of_domain(list_written_, uid);
}

void Memory::list_held(const core::ImexGroupKey& group, std::uint64_t digest, base::Time when) {
  const std::scoped_lock lock(mutex_);
  if (is_forgotten(group.domain_uid)) return;
  core::HeldList& held = list_held_.try_emplace(group, core::HeldList{.since = when}).first->second;
  held.digest = digest;
  held.changed = when;
}

void Memory::list_not_held(const core::ImexGroupKey& group) {
  const std::scoped_lock lock(mutex_);
  list_held_.erase(group);
}

std::map<core::ImexGroupKey, core::HeldList> Memory::lists_held(const std::string& uid) const {
  const std::scoped_lock lock(mutex_);
  return of_domain(list_held_, uid);
}

std::optional<base::Time> Memory::unreported_list(const std::string& uid) const {
  const std::scoped_lock lock(mutex_);
  return value_at(unreported_list_, uid);
}

void Memory::object_reported(const std::string& uid) {
  const std::scoped_lock lock(mutex_);
  reported_.insert(uid);
}

bool Memory::is_reported(const std::string& uid) const {
  const std::scoped_lock lock(mutex_);
  return reported_.contains(uid);
}

void Memory::agent_seen(const std::string& node, const SeenAgent& agent) {
  const std::scoped_lock lock(mutex_);
  const AgentPlace known = first_agent_from(node);
  if (is_agent_of(known, node)) agents_.erase(known);
  agents_.insert(first_agent_from(node), {base::SharedBytes(node), agent});
}

Memory::AgentPlace Memory::first_agent_from(const std::string& node) const {
  return agents_.first_not([&](const Agent& agent) { return agent.node.view() < node; });
}

bool Memory::is_agent_of(const AgentPlace& place, const std::string& node) const {
  return place != agents_.end() && (*place).node.view() == node;
}

std::optional<Memory::SeenAgent> Memory::agent(const std::string& node) const {
  const std::scoped_lock lock(mutex_);
  const AgentPlace place = first_agent_from(node);
  return is_agent_of(place, node) ? std::optional((*place).seen) : std::nullopt;
}

void Memory::decides(base::Duration elapsed) {
  const std::scoped_lock lock(mutex_);
  if (!decides_since_) decides_since_ = elapsed;
}

std::optional<base::Duration> Memory::decides_since() const {
  const std::scoped_lock lock(mutex_);
  return decides_since_;
}

void Memory::claims_listed(std::shared_ptr<const ClaimsOnNodes> claims, base::Duration asked) {
  const std::scoped_lock lock(mutex_);
  claims_on_nodes_ = std::move(claims);
  claims_asked_ = asked;
}

std::shared_ptr<const ClaimsOnNodes> Memory::claims_on_nodes(base::Duration now) const {
  const std::scoped_lock lock(mutex_);
  return now - claims_asked_ < std::chrono::seconds(1) ? claims_on_nodes_ : nullptr;
}

core::SeatCount Memory::seats(const SeatsCounted& when,
                              const std::function<core::SeatCount()>& count) const {
  const std::scoped_lock lock(seats_mutex_);
  if (seats_counted_ != when) {
    seats_ = count();
    seats_counted_ = when;
  }
  return seats_;
}

bool Memory::placement_found(const std::string& uid, const core::PlacementVerdict& verdict) {
  const std::scoped_lock lock(mutex_);
  if (is_forgotten(uid)) return false;
  const auto [it, is_new] = placements_.try_emplace(uid, verdict);
  if (!is_new && it->second == verdict) return false;
  it->second = verdict;
  return true;
}

std::optional<core::PlacementVerdict> Memory::placement(const std::string& uid) const {
  const std::scoped_lock lock(mutex_);
  return value_at(placements_, uid);
}

void Memory::formation_begun(const std::string& uid, base::Duration elapsed) {
  const std::scoped_lock lock(mutex_);
  if (is_forgotten(uid)) return;
  forming_since_.try_emplace(uid, elapsed);
}

std::optional<base::Duration> Memory::formation_ended(const std::string& uid) {
  const std::scoped_lock lock(mutex_);
  const auto node = forming_since_.extract(uid);
  return node.empty() ? std::nullopt : std::optional(node.mapped());
}

bool Memory::refused(const Key& key, const std::string& what, base::Duration elapsed) {
  const std::scoped_lock lock(mutex_);
  failing_.erase(key);
  const auto [it, is_new] = refusals_.try_emplace(key, Refusal{what, elapsed});
  if (is_new) return true;
  if (elapsed - it->second.since < kRefusalStands || it->second.what == what) return false;
  it->second = {what, elapsed};
  return true;
}

bool Memory::failed(const Key& key, const Failure& failure, base::Time now,
                    base::Duration elapsed) {
  const std::scoped_lock lock(mutex_);
  if (is_forgotten(key.id)) return false;
  const auto [it, is_new] = failing_.try_emplace(key);
  Failing& failing = it->second;
  const bool was_told = failing.told.has_value();
  if (is_new || failing.action != failure.action) {
    failing = {.action = failure.action, .since = now, .begun = elapsed};
  }
  const bool lasts =
      ++failing.times >= kLastingFailures && elapsed - failing.begun >= kLastingFailure;
  if (!lasts) return was_told;
  const bool is_news = !failing.told || (failing.told->what != failure.what &&
                                         elapsed - failing.told->since >= kRefusalStands);
  if (is_news) failing.told = Refusal{failure.what, elapsed};
  return is_news;
}

void Memory::status_failed(const std::string& uid) {
  const std::scoped_lock lock(mutex_);
  for (auto& [key, failing] : failing_) {
    if (key.id == uid) failing.told.reset();
  }
}

std::optional<core::LastingFailure> Memory::lasting_failure(const Key& key) const {
  const std::scoped_lock lock(mutex_);
  const auto it = failing_.find(key);
  if (it == failing_.end() || !it->second.told) return std::nullopt;
  return core::LastingFailure{.what = it->second.told->what, .since = it->second.since};
}

bool Memory::accepted(const Key& key) {
  const std::scoped_lock lock(mutex_);
  const auto failing = failing_.extract(key);
  const bool was_told = !failing.empty() && failing.mapped().told;
  return refusals_.erase(key) > 0 || was_told;
}

std::size_t Memory::refusals() const {
  const std::scoped_lock lock(mutex_);
  return refusals_.size();
}

std::optional<std::string> Memory::refusal(const Key& key) const {
  const std::scoped_lock lock(mutex_);
  const auto it = refusals_.find(key);
  return it == refusals_.end() ? std::nullopt : std::optional(it->second.what);
}

void Memory::status_pruned(const std::string& uid, std::optional<core::PrunedStatus> pruned) {
  const std::scoped_lock lock(mutex_);
  pruned_.erase(uid);
  if (pruned && !is_forgotten(uid)) pruned_.emplace(uid, *std::move(pruned));
}

std::optional<core::PrunedStatus> Memory::pruned(const std::string& uid) const {
  const std::scoped_lock lock(mutex_);
  return value_at(pruned_, uid);
}

bool Memory::daemons_pruned(const std::string& uid, core::PrunedDaemons pruned) {
  const std::scoped_lock lock(mutex_);
  return pruned_daemons_.insert_or_assign(uid, std::move(pruned)).second;
}

void Memory::daemons_kept(const std::string& uid) {
  const std::scoped_lock lock(mutex_);
  pruned_daemons_.erase(uid);
}

std::optional<core::PrunedDaemons> Memory::pruned_daemons(const std::string& uid) const {
  const std::scoped_lock lock(mutex_);
  return value_at(pruned_daemons_, uid);
}

void Memory::end_unproved(const std::string& uid, base::Duration now, base::Duration pause) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(unproved_until_, [&](const auto& known) { return known.second <= now; });
  unproved_until_[uid] = now + pause;
}

std::optional<base::Duration> Memory::end_unproved_for(const std::string& uid,
                                                       base::Duration now) const {
  const std::scoped_lock lock(mutex_);
  const auto it = unproved_until_.find(uid);
  if (it == unproved_until_.end() || it->second <= now) return std::nullopt;
  return it->second - now;
}

void Memory::forget_domain(const std::string& uid) {
  const std::scoped_lock lock(mutex_);
  unproved_until_.erase(uid);
  domains_seen_.erase(uid);
  status_written_.erase(uid);
  unreported_list_.erase(uid);
  unheard_.erase(uid);
  std::erase_if(list_written_, [&](const auto& known) { return known.first.domain_uid == uid; });
  std::erase_if(list_held_, [&](const auto& known) { return known.first.domain_uid == uid; });
  forming_since_.erase(uid);
  placements_.erase(uid);
  pruned_.erase(uid);
  std::erase_if(refusals_, [&](const auto& known) { return known.first.id == uid; });
  std::erase_if(failing_, [&](const auto& known) { return known.first.id == uid; });
}

void Memory::forget_object(const std::string& uid) {
  const std::scoped_lock lock(mutex_);
  reported_.erase(uid);
  pruned_daemons_.erase(uid);
}

void Memory::forget_node(const std::string& node) {
  const std::scoped_lock lock(mutex_);
  const AgentPlace place = first_agent_from(node);
  if (is_agent_of(place, node)) agents_.erase(place);
}

}  // namespace cdom::controller
