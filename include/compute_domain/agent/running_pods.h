// RunningPods: the pods that this node runs, by what kubelet's PodsAPI has said.
//
// A pod leaves when it is deleted or its containers have ended for good. At the begin of a watch
// kubelet leaves out pods that were deleted by force, though it may still run them, and a kubelet
// that has started again never reports their end, nor that of a pod which it rejects then. So a pod
// that is not watched any more, or is rejected, is kept for its grace period, ten minutes at most,
// and a margin. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/recent_map.h"
#include "compute_domain/core/node_world.h"

namespace cdom::agent {

// Past the grace period: for kubelet to see the end of containers, and for a runtime that is slow.
inline constexpr base::Duration kPodEndMargin = std::chrono::seconds(30);
// A tenant chooses it. A kubelet that has started again gives such a pod's containers a second.
inline constexpr std::int64_t kLongestGraceSeconds = 600;

// From the process's begin on, for a watch that has not named all pods yet.
inline constexpr base::Duration kUntilWatched = std::chrono::seconds(60);

// Pods that have left: another process may write about them a little later.
inline constexpr std::size_t kPodsRemembered = 1000;

class RunningPods {
 public:
  // `ended` is called, without a lock held, when a pod has left.
  RunningPods(const base::Clock& clock, std::function<void()> ended);

  // A watch begins; it has named all pods that kubelet knows; it has ended, and with it what is
  // known of any pod; kubelet has no API for one.
  void begin_watch();
  void complete_watch();
  void end_watch();
  void there_is_no_watch();
  void add(core::RunningPod pod);
  // Its containers are being killed, and nobody will say that they have ended.
  void add_rejected(core::RunningPod pod);
  void remove(const std::string& uid);

  // One that another process of this agent knew to run.
  void expect(const std::string& uid, std::int64_t grace_seconds);
  // One that had a claim before this process began. It counts for kPodEndMargin once kubelet's pods
  // are known, and before that for kUntilWatched, unless there is no watch.
  void expect_if_watched(const std::string& uid);

  // Counts the pods that have left. Those whose time is over leave when they are asked for.
  [[nodiscard]] std::uint64_t revision();
  [[nodiscard]] std::map<std::string, core::RunningPod> all();

 private:
  struct Seen {
    core::RunningPod pod;
    std::optional<base::Duration> lost_since;  // no watch shows it, or it was rejected
    std::uint64_t watch = 0;                   // that has named it last
  };
  void expect_locked(const std::string& uid, std::int64_t grace_seconds);
  void forget_overdue();

  const base::Clock& clock_;
  const std::function<void()> ended_;
  std::mutex mutex_;
  std::map<std::string, Seen> pods_;
  std::set<std::string> awaited_;  // until a watch has named all
  std::optional<base::Duration> awaited_until_;
  bool counts_awaited_ = true;  // among all()
  bool is_complete_ = false;    // this watch has named all
  base::RecentMap<std::string, bool> left_{kPodsRemembered};
  std::uint64_t watch_ = 0, revision_ = 0;
};

}  // namespace cdom::agent
