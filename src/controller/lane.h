// Lane: the keys of one worker; those that take long have a worker apart.
//
// Keys of one strand are reconciled one after the other, by one worker: a list that one is about to
// write must not come after another has seen that there is none. A request that nobody answers, as
// while an admission webhook says nothing, takes as long as a request may, and keys of others must
// not wait for that: after a long turn all keys of that strand go apart. They come back after a
// short turn of theirs, minutes after the last long one, when none of them fails. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/kube/work_queue.h"
#include "queued_key.h"

namespace cdom::controller {

// What has one worker at a time: the keys of one domain, clique or namespace. Keys of Nodes are so
// many, and each of them so alone, that all of one kind go together; the label of a Node and its
// report may go apart.
std::string strand_of(const Key& key);

class Lane {
 public:
  using Queue = kube::WorkQueue<QueuedKey>;
  // Half of what one request may take.
  static constexpr base::Duration kLongTurn = std::chrono::seconds(5);
  // After the last long turn: longer than anything waits until it is tried again.
  static constexpr base::Duration kStaysApart = std::chrono::minutes(3);
  // A strand that has had no turn for so long is gone.
  static constexpr base::Duration kForgotten = std::chrono::hours(1);

  Lane(const base::Clock& clock, const std::string& name, base::Registry* metrics);

  // Each has a worker; the second one those that take long.
  [[nodiscard]] std::array<Queue*, 2> queues() { return {&queue_, &apart_}; }

  // That of the worker that this key has now.
  [[nodiscard]] Queue& queue_of(const Key& key);
  // The key's last reconcile failed.
  [[nodiscard]] bool is_failing(const Key& key) const;

  // For the worker that has taken `key` from `queue`: false, and it is in the other queue, when its
  // strand has the other worker now.
  [[nodiscard]] bool is_to_be_done(const Key& key, Queue& queue);
  // Whether a turn that has taken so long leaves the rest to the worker apart; that one lets others
  // come between too where the key's next turn `begins_elsewhere`.
  [[nodiscard]] bool is_over(const Queue& queue, base::Duration took, bool begins_elsewhere) const {
    return took >= kLongTurn && (&queue == &queue_ || begins_elsewhere);
  }
  // The worker is done with it, and this is how long its turn took. One that was cut, as is_over()
  // wanted, goes on apart at once.
  void end_turn(const Key& key, Queue& queue, base::Duration took, bool is_cut);

 private:
  void note_turn(const std::string& strand, bool is_apart, bool is_long);
  [[nodiscard]] bool is_failing_apart(const std::string& strand) const;

  const base::Clock& clock_;
  Queue queue_, apart_;
  mutable std::mutex mutex_;
  // By strand: when its last one ended. Only the worker apart takes one out, which has no key then.
  std::map<std::string, base::Duration> long_turns_;
  std::atomic<std::size_t> strands_apart_ = 0;  // in it
};

}  // namespace cdom::controller
