#include "sandbox/main/cluster_loop.h"

#include <algorithm>

namespace cdom::program {
namespace {

// What is due and could not be done is not tried again in a hurry.
constexpr base::Duration kShortestSleep = std::chrono::milliseconds(1);

}  // namespace

ClusterLoop::ClusterLoop(sandbox::Cluster& cluster, const base::Clock& clock, base::Duration poll)
    : cluster_(cluster),
      clock_(clock),
      poll_(poll),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void ClusterLoop::wake() {
  {
    const std::lock_guard lock(mutex_);
    has_news_ = true;
  }
  woken_.notify_one();
}

void ClusterLoop::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (cluster_.step()) continue;
    is_up_ = cluster_.is_up();
    sleep(stop);
  }
}

void ClusterLoop::sleep(const std::stop_token& stop) {
  base::Duration wait = poll_;
  if (const auto due = cluster_.next_due()) {
    wait = std::clamp(*due - clock_.elapsed(), std::min(kShortestSleep, poll_), poll_);
  }
  std::unique_lock lock(mutex_);
  woken_.wait_for(lock, stop, wait, [this] { return has_news_; });
  has_news_ = false;
}

}  // namespace cdom::program
