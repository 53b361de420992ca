#include "expectations.h"

#include <algorithm>

#include "compute_domain/base/log.h"

namespace cdom::controller {

namespace {

bool is_seen(const Written& written, const Stores& stores) {
  return stores.domains.seen_version() >= written.domains &&
         stores.templates.seen_version() >= written.templates &&
         stores.lists.seen_version() >= written.lists &&
         stores.slices.seen_version() >= written.slices &&
         stores.cliques.seen_version() >= written.cliques &&
         stores.nodes.seen_version() >= written.nodes;
}

}  // namespace

void Expectations::expect(const Key& key, const Written& written, base::Duration now) {
  if (written == Written{}) return;
  const std::scoped_lock lock(mutex_);
  expected_[key] = {written, now + kPatience};
}

std::optional<base::Duration> Expectations::wait_for(const Key& key, const Stores& stores,
                                                     base::Duration now) {
  const std::scoped_lock lock(mutex_);
  const auto it = expected_.find(key);
  if (it == expected_.end()) return std::nullopt;
  const bool seen = is_seen(it->second.written, stores);
  if (!seen && now < it->second.until) {
    waiting_.insert(key);
    return it->second.until - now;
  }
  if (!seen) {
    base::log_warning("the watch has not shown our own write in time; going on without",
                      {{"key", to_string(key)}});
  }
  waiting_.erase(key);
  expected_.erase(it);
  return std::nullopt;
}

std::vector<Key> Expectations::fulfilled(const Stores& stores) {
  const std::scoped_lock lock(mutex_);
  std::vector<Key> keys;
  for (const Key& key : waiting_) {
    if (is_seen(expected_.at(key).written, stores)) keys.push_back(key);
  }
  for (const Key& key : keys) waiting_.erase(key);
  // Most keys do not come back soon, and those of what is gone never.
  if (expected_.size() >= too_many_) {
    std::erase_if(expected_, [&](const auto& each) {
      return !waiting_.contains(each.first) && is_seen(each.second.written, stores);
    });
    too_many_ = std::max(kFew, 2 * expected_.size());
  }
  return keys;
}

std::size_t Expectations::size() const {
  const std::scoped_lock lock(mutex_);
  return expected_.size();
}

}  // namespace cdom::controller
