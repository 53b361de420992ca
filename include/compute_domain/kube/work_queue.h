// WorkQueue: the keys that still have to be reconciled.
//
// A key is in the queue at most once, however many events named it, and is handed to at most one
// worker at a time: a key added while a worker holds it comes back after that worker calls done().
// First come, first served. Thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/metrics.h"
#include "compute_domain/base/sorted_chunks.h"

namespace cdom::kube {

template <class Key>
class WorkQueue {
 public:
  // The delays of retry(): doubling from the first to the last.
  static constexpr base::Duration kFirstBackoff = std::chrono::milliseconds(5);
  static constexpr base::Duration kLastBackoff = std::chrono::seconds(30);

  // `name` labels the metrics; `metrics` may be null.
  explicit WorkQueue(const base::Clock& clock, const std::string& name = "",
                     base::Registry* metrics = nullptr);

  [[nodiscard]] const std::string& name() const { return name_; }

  void add(const Key& key);
  // Adds `key` once `delay` has passed; the earliest of several wins.
  void add_after(const Key& key, base::Duration delay);

  // The next key that is due, or nullopt when none is. The caller must answer with done(), also
  // when its reconcile failed.
  [[nodiscard]] std::optional<Key> try_pop();
  // Waits for one, at most `wait` and no longer than until `stop`.
  [[nodiscard]] std::optional<Key> pop(base::Duration wait, std::stop_token stop);
  void done(const Key& key);

  // Adds `key` after its backoff, which doubles with every retry until forget(), or after
  // `at_least` when that is longer. Call it before done().
  void retry(const Key& key, std::optional<base::Duration> at_least = std::nullopt);
  // Its reconcile succeeded: the next backoff is the first one again, and what was delayed until
  // now is no longer due.
  void forget(const Key& key);

  // Its last reconcile failed: it has been retried since forget().
  [[nodiscard]] bool is_failing(const Key& key) const;
  // That of any key for which `is_asked_for` is true.
  template <class Predicate>
  [[nodiscard]] bool is_any_failing(const Predicate& is_asked_for) const {
    const std::scoped_lock lock(mutex_);
    return std::ranges::any_of(retries_of_,
                               [&](const auto& each) { return is_asked_for(each.first); });
  }
  // Keys that are due and not held by a worker.
  [[nodiscard]] std::size_t size() const;
  // No key is due, delayed or held.
  [[nodiscard]] bool is_empty() const;
  // When the next key becomes due, on Clock::elapsed(); nullopt when none will by itself.
  [[nodiscard]] std::optional<base::Duration> next_due() const;

  // Sets what grows while a worker holds a key, as of now: for a scrape, since no event of the
  // queue would ever show a worker that hangs.
  void show_work_in_progress(base::Registry& metrics) const;

 private:
  void add_locked(const Key& key);
  void add_after_locked(const Key& key, base::Duration delay);
  void take_due_locked();
  std::optional<base::Duration> earliest_delayed_locked() const;
  std::optional<Key> try_pop_locked();
  void show_sizes_locked();

  // By client-go's names where it has them.
  struct Shown {
    base::Number &ready, &delayed, &held, &adds, &retries;
    base::Histogram &waited, &worked;
  };

  static void observe(base::Histogram& of, base::Duration took) {
    of.observe(std::chrono::duration<double>(took).count());
  }

  const base::Clock& clock_;
  const std::string name_;
  std::optional<Shown> shown_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  // Due, or held and added meanwhile. After a start there are some for each node of the cluster.
  struct Waiting {
    Key key;
    base::Duration since{};
  };
  using Place = typename base::SortedChunks<Waiting>::Place;
  [[nodiscard]] Place first_waiting(const Key& key) const {
    return waiting_.first_not([&](const Waiting& each) { return each.key < key; });
  }
  [[nodiscard]] bool is_at(const Place& place, const Key& key) const {
    return place != waiting_.end() && (*place).key == key;
  }
  // due_of_ stores the keys that are delayed, and delayed_ points to those.
  struct EarliestFirst {
    using Delayed = std::pair<base::Duration, const Key*>;
    bool operator()(const Delayed& a, const Delayed& b) const {
      return std::tie(a.first, *a.second) < std::tie(b.first, *b.second);
    }
  };
  std::deque<Key> ready_;                // of waiting_: those that nobody holds
  base::SortedChunks<Waiting> waiting_;  // by key
  std::map<Key, base::Duration> held_;   // since when
  std::map<Key, base::Duration> due_of_;
  std::set<typename EarliestFirst::Delayed, EarliestFirst> delayed_;  // due_of_
  std::map<Key, int> retries_of_;
};

template <class Key>
WorkQueue<Key>::WorkQueue(const base::Clock& clock, const std::string& name,
                          base::Registry* metrics)
    : clock_(clock), name_(name) {
  if (metrics == nullptr) return;
  const auto others = [&](const char* state) -> base::Number& {
    return metrics->gauge("compute_domain_work_queue_keys",
                          "Keys that are not to be done now: delayed, or held by a worker.",
                          {{"name", name}, {"state", state}});
  };
  const std::vector<double> bounds{0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60};
  shown_.emplace(Shown{
      metrics->gauge("workqueue_depth", "Keys that wait for a worker.", {{"name", name}}),
      others("delayed"), others("held"),
      metrics->counter("workqueue_adds_total", "Keys that were added and did not wait already.",
                       {{"name", name}}),
      metrics->counter("workqueue_retries_total",
                       "Keys put back after a failed reconcile, or for Events that found no place.",
                       {{"name", name}}),
      metrics->histogram("workqueue_queue_duration_seconds", "How long a key waited for a worker.",
                         bounds, {{"name", name}}),
      metrics->histogram("workqueue_work_duration_seconds", "How long a worker held a key.", bounds,
                         {{"name", name}})});
}

template <class Key>
void WorkQueue<Key>::add(const Key& key) {
  const std::scoped_lock lock(mutex_);
  add_locked(key);
  show_sizes_locked();
}

template <class Key>
void WorkQueue<Key>::add_after(const Key& key, base::Duration delay) {
  const std::scoped_lock lock(mutex_);
  add_after_locked(key, delay);
  show_sizes_locked();
}

template <class Key>
std::optional<Key> WorkQueue<Key>::try_pop() {
  const std::scoped_lock lock(mutex_);
  return try_pop_locked();
}

template <class Key>
std::optional<Key> WorkQueue<Key>::pop(base::Duration wait, std::stop_token stop) {
  const auto give_up = std::chrono::steady_clock::now() + wait;
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (auto key = try_pop_locked()) return key;
    if (std::chrono::steady_clock::now() >= give_up) break;
    const auto earliest = earliest_delayed_locked();
    auto until = give_up;
    if (earliest) {
      until = std::min(until, std::chrono::steady_clock::now() + (*earliest - clock_.elapsed()));
    }
    changed_.wait_until(lock, stop, until,
                        [&] { return !ready_.empty() || earliest_delayed_locked() != earliest; });
  }
  return std::nullopt;
}

template <class Key>
void WorkQueue<Key>::done(const Key& key) {
  const std::scoped_lock lock(mutex_);
  const auto held = held_.find(key);
  if (held != held_.end()) {
    if (shown_) observe(shown_->worked, clock_.elapsed() - held->second);
    held_.erase(held);
    if (is_at(first_waiting(key), key)) {
      ready_.push_back(key);
      changed_.notify_one();
    }
  }
  show_sizes_locked();
}

template <class Key>
void WorkQueue<Key>::retry(const Key& key, std::optional<base::Duration> at_least) {
  const std::scoped_lock lock(mutex_);
  const int doublings = std::min(retries_of_[key]++, 20);
  const base::Duration backoff = std::min(kFirstBackoff * (1 << doublings), kLastBackoff);
  add_after_locked(key, std::max(backoff, at_least.value_or(backoff)));
  if (shown_) shown_->retries.add();
  show_sizes_locked();
}

template <class Key>
void WorkQueue<Key>::forget(const Key& key) {
  const std::scoped_lock lock(mutex_);
  retries_of_.erase(key);
  const auto it = due_of_.find(key);
  if (it == due_of_.end()) return;
  delayed_.erase({it->second, &it->first});
  due_of_.erase(it);
  show_sizes_locked();
}

template <class Key>
bool WorkQueue<Key>::is_failing(const Key& key) const {
  const std::scoped_lock lock(mutex_);
  return retries_of_.contains(key);
}

template <class Key>
std::size_t WorkQueue<Key>::size() const {
  const std::scoped_lock lock(mutex_);
  return ready_.size();
}

template <class Key>
bool WorkQueue<Key>::is_empty() const {
  const std::scoped_lock lock(mutex_);
  return waiting_.size() == 0 && held_.empty() && delayed_.empty();
}

template <class Key>
std::optional<base::Duration> WorkQueue<Key>::next_due() const {
  const std::scoped_lock lock(mutex_);
  return ready_.empty() ? earliest_delayed_locked() : clock_.elapsed();
}

template <class Key>
void WorkQueue<Key>::show_work_in_progress(base::Registry& metrics) const {
  std::chrono::duration<double> unfinished{}, longest{};
  {
    const std::scoped_lock lock(mutex_);
    const base::Duration now = clock_.elapsed();
    for (const auto& [key, since] : held_) {
      unfinished += now - since;
      longest = std::max<std::chrono::duration<double>>(longest, now - since);
    }
  }
  metrics
      .gauge("workqueue_unfinished_work_seconds",
             "How long workers have held the keys that they hold now, together: what "
             "workqueue_work_duration_seconds does not have yet.",
             {{"name", name_}})
      .set(unfinished.count());
  metrics
      .gauge("workqueue_longest_running_processor_seconds",
             "How long a worker has held the key that is held for the longest time now.",
             {{"name", name_}})
      .set(longest.count());
}

template <class Key>
void WorkQueue<Key>::add_locked(const Key& key) {
  const Place place = first_waiting(key);
  if (is_at(place, key)) return;
  waiting_.insert(place, {key, clock_.elapsed()});
  if (shown_) shown_->adds.add();
  if (held_.contains(key)) return;
  ready_.push_back(key);
  changed_.notify_one();
}

template <class Key>
void WorkQueue<Key>::add_after_locked(const Key& key, base::Duration delay) {
  if (delay <= base::Duration::zero()) return add_locked(key);
  const base::Duration due = clock_.elapsed() + delay;
  const auto [it, is_new] = due_of_.try_emplace(key, due);
  if (!is_new) {
    if (it->second <= due) return;
    delayed_.erase({it->second, &it->first});
    it->second = due;
  }
  delayed_.emplace(due, &it->first);
  // A worker may be asleep until a later time.
  changed_.notify_all();
}

template <class Key>
void WorkQueue<Key>::take_due_locked() {
  const base::Duration now = clock_.elapsed();
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    const auto it = due_of_.find(*delayed_.begin()->second);
    delayed_.erase(delayed_.begin());
    add_locked(it->first);
    due_of_.erase(it);
  }
}

template <class Key>
std::optional<base::Duration> WorkQueue<Key>::earliest_delayed_locked() const {
  if (delayed_.empty()) return std::nullopt;
  return delayed_.begin()->first;
}

template <class Key>
std::optional<Key> WorkQueue<Key>::try_pop_locked() {
  take_due_locked();
  if (ready_.empty()) return std::nullopt;
  Key key = std::move(ready_.front());
  ready_.pop_front();
  const base::Duration now = clock_.elapsed();
  const Place place = first_waiting(key);
  if (shown_) observe(shown_->waited, now - (*place).since);
  waiting_.erase(place);
  held_.emplace(key, now);
  show_sizes_locked();
  return key;
}

template <class Key>
void WorkQueue<Key>::show_sizes_locked() {
  if (!shown_) return;
  shown_->ready.set(static_cast<double>(ready_.size()));
  shown_->delayed.set(static_cast<double>(delayed_.size()));
  shown_->held.set(static_cast<double>(held_.size()));
}

}  // namespace cdom::kube
