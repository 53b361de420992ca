// ClusterLoop: steps a simulated cluster on a thread of its own.
//
// It sleeps while there is nothing to do, until the next due time, a wake(), or `poll`, whichever
// is first. wake() and is_up() are thread-safe; the cluster belongs to the loop while it lives.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "compute_domain/base/clock.h"
#include "compute_domain/sandbox/cluster.h"

namespace cdom::program {

class ClusterLoop {
 public:
  ClusterLoop(sandbox::Cluster& cluster, const base::Clock& clock, base::Duration poll);

  // Something has changed that a step could see.
  void wake();
  // Every node is registered and has its agent.
  [[nodiscard]] bool is_up() const { return is_up_; }

 private:
  void run(const std::stop_token& stop);
  void sleep(const std::stop_token& stop);

  sandbox::Cluster& cluster_;
  const base::Clock& clock_;
  const base::Duration poll_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  bool has_news_ = false;
  std::atomic<bool> is_up_ = false;
  std::jthread thread_;
};

}  // namespace cdom::program
