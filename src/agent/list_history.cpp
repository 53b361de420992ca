#include "agent/list_history.h"

#include "compute_domain/base/log.h"
#include "compute_domain/core/node_lists.h"

namespace cdom::agent {

namespace {

void see_members(core::SeenList& seen, base::Duration now) {
  std::map<std::string, base::Duration> since;
  if (seen.stored.list) {
    for (const api::NodeListEntry& entry : seen.stored.list->entries) {
      if (!entry.member || entry.address.empty()) continue;
      const auto it = seen.member_since.find(entry.node);
      since[entry.node] = it == seen.member_since.end() ? now : it->second;
    }
  }
  seen.member_since = std::move(since);
}

}  // namespace

void ListHistory::see(const api::ConfigMap* before, const api::ConfigMap* after) {
  if (after == nullptr) {
    lists_.erase(api::name_of(before->meta));
    return;
  }
  const base::Duration now = clock_.elapsed();
  core::StoredList stored = core::stored_list(*after);
  if (!stored.list) {
    base::log_warning(
        "a node list cannot be used; the controller writes it again",
        {{"list", api::to_string(api::name_of(after->meta))}, {"problem", stored.problem}});
  }
  const auto [it, is_new] = lists_.try_emplace(api::name_of(after->meta));
  core::SeenList& seen = it->second;
  if (is_new) seen.first_seen = now;
  // Another resource version with the same list is no change.
  if (is_new || seen.stored.list != stored.list) seen.changed = now;
  seen.stored = std::move(stored);
  see_members(seen, now);
}

std::vector<core::SeenList> ListHistory::all() const {
  std::vector<core::SeenList> all;
  all.reserve(lists_.size());
  for (const auto& [name, seen] : lists_) all.push_back(seen);
  return all;
}

}  // namespace cdom::agent
