// PendingWrite: a write of ours that the watch has not shown yet.
//
// Until then the store is older than what we wrote, and a decision on it would repeat or undo the
// write. After 5 s nobody waits for the watch any more: the precondition of the next write protects
// it. A failed write counts as pending until its backoff has ended. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "compute_domain/base/clock.h"
#include "compute_domain/kube/store.h"

namespace cdom::agent {

class PendingWrite {
 public:
  // Something was written whose version is `resource_version`.
  void wrote(const std::string& resource_version, base::Duration now) {
    version_ = kube::version_number(resource_version);
    until_ = now + kPatience;
    failures_ = 0;
  }
  // Something was removed: any event after those seen so far shows it.
  void removed(std::uint64_t seen_version, base::Duration now) {
    version_ = seen_version + 1;
    until_ = now + kPatience;
    failures_ = 0;
  }
  void failed(base::Duration now, std::optional<base::Duration> at_least) {
    version_ = UINT64_MAX;
    const base::Duration backoff = std::min(kFirstBackoff * (1 << failures_), kLastBackoff);
    failures_ = std::min(failures_ + 1, 16);
    until_ = now + std::max(backoff, at_least.value_or(backoff));
  }

  [[nodiscard]] bool has_landed(std::uint64_t seen_version, base::Duration now) const {
    return seen_version >= version_ || now >= until_;
  }
  // When waiting ends by itself; nullopt when nothing is under way.
  [[nodiscard]] std::optional<base::Duration> ends(std::uint64_t seen_version,
                                                   base::Duration now) const {
    if (has_landed(seen_version, now)) return std::nullopt;
    return until_;
  }

 private:
  static constexpr base::Duration kPatience = std::chrono::seconds(5);
  static constexpr base::Duration kFirstBackoff = std::chrono::milliseconds(100);
  static constexpr base::Duration kLastBackoff = std::chrono::seconds(5);

  std::uint64_t version_ = 0;
  base::Duration until_{};
  int failures_ = 0;
};

}  // namespace cdom::agent
