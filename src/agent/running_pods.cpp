#include "compute_domain/agent/running_pods.h"

#include <algorithm>
#include <utility>

namespace cdom::agent {

namespace {

core::RunningPod unnamed(const std::string& uid, std::int64_t grace_seconds) {
  return {.ns = "", .name = "", .uid = uid, .claims = {}, .grace_seconds = grace_seconds};
}

}  // namespace

RunningPods::RunningPods(const base::Clock& clock, std::function<void()> ended)
    : clock_(clock), ended_(std::move(ended)) {}

void RunningPods::begin_watch() {
  const std::lock_guard lock(mutex_);
  ++watch_;
}

void RunningPods::complete_watch() {
  const std::lock_guard lock(mutex_);
  is_complete_ = true;
  for (const std::string& uid : awaited_) expect_locked(uid, 0);
  awaited_.clear();
  for (auto& [uid, seen] : pods_) {
    if (seen.watch != watch_ && !seen.lost_since) seen.lost_since = clock_.elapsed();
  }
}

void RunningPods::end_watch() {
  const std::lock_guard lock(mutex_);
  is_complete_ = false;
  for (auto& [uid, seen] : pods_) {
    if (!seen.lost_since) seen.lost_since = clock_.elapsed();
  }
}

void RunningPods::there_is_no_watch() {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(counts_awaited_, false) || awaited_.empty()) return;
    ++revision_;
  }
  ended_();
}

void RunningPods::add(core::RunningPod pod) {
  const std::lock_guard lock(mutex_);
  const std::string uid = pod.uid;
  pods_[uid] = {.pod = std::move(pod), .lost_since = std::nullopt, .watch = watch_};
}

void RunningPods::add_rejected(core::RunningPod pod) {
  const std::lock_guard lock(mutex_);
  Seen& seen = pods_[pod.uid];
  const base::Duration since = seen.lost_since.value_or(clock_.elapsed());
  seen = {.pod = std::move(pod), .lost_since = since, .watch = watch_};
}

void RunningPods::remove(const std::string& uid) {
  {
    const std::lock_guard lock(mutex_);
    left_.at_or(uid, true);
    awaited_.erase(uid);
    if (pods_.erase(uid) == 0) return;
    ++revision_;
  }
  ended_();
}

void RunningPods::expect(const std::string& uid, std::int64_t grace_seconds) {
  const std::lock_guard lock(mutex_);
  expect_locked(uid, grace_seconds);
}

void RunningPods::expect_locked(const std::string& uid, std::int64_t grace_seconds) {
  if (left_.find(uid) != nullptr) return;
  pods_.try_emplace(uid, Seen{.pod = unnamed(uid, grace_seconds), .lost_since = clock_.elapsed()});
}

void RunningPods::expect_if_watched(const std::string& uid) {
  const std::lock_guard lock(mutex_);
  if (is_complete_) return expect_locked(uid, 0);
  if (left_.find(uid) != nullptr) return;
  awaited_.insert(uid);
  if (!awaited_until_) awaited_until_ = clock_.elapsed() + kUntilWatched;
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
  if (!counts_awaited_) return pods;
  for (const std::string& uid : awaited_) pods.try_emplace(uid, unnamed(uid, 0));
  return pods;
}

void RunningPods::forget_overdue() {
  const base::Duration now = clock_.elapsed();
  if (counts_awaited_ && awaited_until_ && now >= *awaited_until_) {
    counts_awaited_ = false;
    if (!awaited_.empty()) ++revision_;
  }
  revision_ += std::erase_if(pods_, [now](const auto& entry) {
    const Seen& seen = entry.second;
    const std::int64_t grace =
        std::clamp<std::int64_t>(seen.pod.grace_seconds, 0, kLongestGraceSeconds);
    return seen.lost_since && now >= *seen.lost_since + std::chrono::seconds(grace) + kPodEndMargin;
  });
}

}  // namespace cdom::agent
