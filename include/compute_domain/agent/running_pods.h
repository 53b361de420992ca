// RunningPods: the pods that this node runs, by what kubelet's PodsAPI has said.
//
// A pod leaves when it is Deleted or its containers have ended for good. Kubelet leaves pods that
// were deleted by force out of what it says at the begin of a watch, though it still runs them; so
// does every kubelet that has started again, and none of them is told of when it ends. A pod that
// was there before and is not named any more is therefore kept for its grace period and a margin.
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "compute_domain/base/clock.h"
#include "compute_domain/core/node_world.h"

namespace cdom::agent {

// Past the grace period: for kubelet to see the end of containers, and for a runtime that is slow.
inline constexpr base::Duration kPodEndMargin = std::chrono::seconds(30);

class RunningPods {
 public:
  // `ended` is called, without a lock held, when a pod has left.
  RunningPods(const base::Clock& clock, std::function<void()> ended);

  // A watch begins, and has named all pods that it knows.
  void begin_watch();
  void complete_watch();
  void add(core::RunningPod pod);
  void remove(const std::string& uid);

  // One of which an earlier process of this agent knew that it runs.
  void expect(const std::string& uid, std::int64_t grace_seconds);

  // Counts the pods that have left. Those whose time is over leave when they are asked for.
  [[nodiscard]] std::uint64_t revision();
  [[nodiscard]] std::map<std::string, core::RunningPod> all();

 private:
  struct Seen {
    core::RunningPod pod;
    std::optional<base::Duration> lost_since;  // kubelet names it no more
  };
  void forget_overdue();

  const base::Clock& clock_;
  const std::function<void()> ended_;
  std::mutex mutex_;
  std::map<std::string, Seen> pods_;
  std::set<std::string> named_;  // by the watch that is beginning
  std::uint64_t revision_ = 0;
};

}  // namespace cdom::agent
