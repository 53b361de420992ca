// Agenda: the keys that a part still has to look at, now or later.
//
// A key is in it at most once, with the earliest moment asked for. Keys that are due come out in
// the order in which they fell due, then in their own order. One thread.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compute_domain/base/clock.h"

namespace cdom::sandbox {

template <class Key>
class Agenda {
 public:
  explicit Agenda(const base::Clock& clock) : clock_(clock) {}

  void add(const Key& key) { add_at(key, clock_.elapsed()); }
  void add_at(const Key& key, base::Duration when) {
    const auto [entry, is_new] = when_.emplace(key, when);
    if (!is_new) {
      if (entry->second <= when) return;
      queue_.erase({entry->second, key});
      entry->second = when;
    }
    queue_.emplace(when, key);
  }
  // After 100 ms, doubled with each retry of the key up to 10 s, until forget_failures().
  void retry(const Key& key) {
    const int failures = std::min(failures_[key]++, 7);
    const base::Duration delay = std::chrono::milliseconds(100) * (1 << failures);
    add_at(key, clock_.elapsed() + std::min<base::Duration>(delay, std::chrono::seconds(10)));
  }
  void forget_failures(const Key& key) { failures_.erase(key); }

  // The next key that is due, which leaves the agenda.
  std::optional<Key> pop() {
    if (queue_.empty() || queue_.begin()->first > clock_.elapsed()) return std::nullopt;
    Key key = queue_.begin()->second;
    queue_.erase(queue_.begin());
    when_.erase(key);
    return key;
  }
  void erase(const Key& key) {
    const auto entry = when_.find(key);
    if (entry == when_.end()) return;
    queue_.erase({entry->second, key});
    when_.erase(entry);
  }
  [[nodiscard]] std::optional<base::Duration> next_due() const {
    if (queue_.empty()) return std::nullopt;
    return queue_.begin()->first;
  }

 private:
  const base::Clock& clock_;
  std::set<std::pair<base::Duration, Key>> queue_;
  std::map<Key, base::Duration> when_;
  std::map<Key, int> failures_;
};

}  // namespace cdom::sandbox
