// RecentMap: a map that keeps the most recently used entries and forgets the others. One thread.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <utility>

namespace cdom::base {

template <class Key, class Value>
class RecentMap {
 public:
  explicit RecentMap(std::size_t capacity) : capacity_(capacity) {}

  // Null when it is not here; what is found counts as used.
  Value* find(const Key& key) {
    const auto it = entries_.find(key);
    if (it == entries_.end()) return nullptr;
    by_use_.splice(by_use_.begin(), by_use_, it->second.use);
    return &it->second.value;
  }

  // The entry of `key`, which is `fresh` when there was none.
  Value& at_or(const Key& key, Value fresh) {
    if (Value* found = find(key)) return *found;
    if (entries_.size() >= capacity_) {
      entries_.erase(entries_.find(*by_use_.back()));
      by_use_.pop_back();
    }
    const auto it = entries_.emplace(key, Entry{std::move(fresh), by_use_.end()}).first;
    by_use_.push_front(&it->first);
    it->second.use = by_use_.begin();
    return it->second.value;
  }

 private:
  struct Entry {
    Value value;
    typename std::list<const Key*>::iterator use;
  };
  const std::size_t capacity_;
  std::list<const Key*> by_use_;  // of entries_; the last used first
  std::map<Key, Entry> entries_;
};

}  // namespace cdom::base
