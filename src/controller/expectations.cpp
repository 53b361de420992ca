#include "expectations.h"

#include "compute_domain/base/log.h"

namespace cdom::controller {

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
  const Written& written = it->second.written;
  const bool seen = stores.domains.seen_version() >= written.domains &&
                    stores.templates.seen_version() >= written.templates &&
                    stores.lists.seen_version() >= written.lists &&
                    stores.slices.seen_version() >= written.slices;
  if (!seen && now < it->second.until) return it->second.until - now;
  if (!seen) {
    base::log_warning("the watch has not shown our own write in time; going on without",
                      {{"key", to_string(key)}});
  }
  expected_.erase(it);
  return std::nullopt;
}

}  // namespace cdom::controller
