#include "agent/server/list_history.h"

#include "compute_domain/base/log.h"
#include "compute_domain/core/node_lists.h"

namespace cdom::agent {

void ListHistory::see(const api::ObjectName& name, const std::optional<api::ConfigMap>& list) {
  if (!list) {
    lists_.erase(name);
    return;
  }
  const base::Duration now = clock_.elapsed();
  core::StoredList stored = core::stored_list(*list);
  if (!stored.list) {
    base::log_warning("a node list cannot be used; the controller writes it again",
                      {{"list", api::to_string(name)}, {"problem", stored.problem}});
  }
  const auto [it, is_new] = lists_.try_emplace(name);
  core::SeenList& seen = it->second;
  if (is_new) seen.first_seen = now;
  // Another resource version with the same list is not a change.
  if (is_new || seen.stored.list != stored.list) seen.changed = now;
  seen.member_since = core::member_since(seen, stored, now);
  seen.peer_changes = core::peer_changes(seen, stored, now);
  seen.stored = std::move(stored);
}

std::vector<core::SeenList> ListHistory::all() const {
  std::vector<core::SeenList> all;
  all.reserve(lists_.size());
  for (const auto& [name, seen] : lists_) all.push_back(seen);
  return all;
}

}  // namespace cdom::agent
