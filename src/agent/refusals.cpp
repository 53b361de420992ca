#include "agent/refusals.h"

#include <algorithm>

namespace cdom::agent {

namespace {

// Kubelet asks again 90 s after a refusal, or when the pod's next sync is due.
constexpr base::Duration kStands = std::chrono::minutes(5);

}  // namespace

void Refusals::add(const std::string& uid, const std::string& reason) {
  by_uid_[uid] = {reason, clock_.elapsed()};
}

void Refusals::see(const std::vector<core::WantedClaim>& prepares,
                   const std::vector<core::WantedClaim>& unprepares) {
  for (const core::WantedClaim& ending : unprepares) by_uid_.erase(ending.claim.uid);
  const base::Duration before = clock_.elapsed() - kStands;
  std::erase_if(by_uid_, [&](const auto& entry) {
    return entry.second.added < before && std::ranges::none_of(prepares, [&](const auto& wanted) {
             return wanted.claim.uid == entry.first;
           });
  });
}

std::map<std::string, std::string> Refusals::all() const {
  std::map<std::string, std::string> reasons;
  for (const auto& [uid, refusal] : by_uid_) reasons.emplace(uid, refusal.reason);
  return reasons;
}

}  // namespace cdom::agent
