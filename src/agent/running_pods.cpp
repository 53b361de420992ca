#include "compute_domain/agent/running_pods.h"

#include <algorithm>
#include <utility>

namespace cdom::agent {

RunningPods::RunningPods(const base::Clock& clock, std::function<void()> ended)
    : clock_(clock), ended_(std::move(ended)) {}

void RunningPods::begin_watch() {
  const std::lock_guard lock(mutex_);
  named_.clear();
}

void RunningPods::complete_watch() {
  const std::lock_guard lock(mutex_);
  for (auto& [uid, seen] : pods_) {
    if (!named_.contains(uid) && !seen.lost_since) seen.lost_since = clock_.elapsed();
  }
  named_.clear();
}

void RunningPods::add(core::RunningPod pod) {
  const std::lock_guard lock(mutex_);
  named_.insert(pod.uid);
  const std::string uid = pod.uid;
  pods_[uid] = {.pod = std::move(pod), .lost_since = std::nullopt};
}

void RunningPods::remove(const std::string& uid) {
  {
    const std::lock_guard lock(mutex_);
    if (pods_.erase(uid) == 0) return;
    ++revision_;
  }
  ended_();
}

void RunningPods::expect(const std::string& uid, std::int64_t grace_seconds) {
  const std::lock_guard lock(mutex_);
  pods_.try_emplace(
      uid,
      Seen{.pod = {.ns = "", .name = "", .uid = uid, .claims = {}, .grace_seconds = grace_seconds},
           .lost_since = clock_.elapsed()});
}

std::uint64_t RunningPods::revision() {
  const std::lock_guard lock(mutex_);
  forget_overdue();
  return revision_;
}

std::map<std::string, core::RunningPod> RunningPods::all() {
  const std::lock_guard lock(mutex_);
  forget_overdue();
  std::map<std::string, core::RunningPod> pods;
  for (const auto& [uid, seen] : pods_) pods.emplace(uid, seen.pod);
  return pods;
}

void RunningPods::forget_overdue() {
  const base::Duration now = clock_.elapsed();
  revision_ += std::erase_if(pods_, [now](const auto& entry) {
    const auto& [pod, lost_since] = entry.second;
    return lost_since &&
           now >= *lost_since + std::chrono::seconds(pod.grace_seconds) + kPodEndMargin;
  });
}

}  // namespace cdom::agent
