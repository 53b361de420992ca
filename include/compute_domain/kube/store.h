// Store: the objects of one kind as the API server last showed them.
//
// What is const is the read side: thread-safe, and what it hands out are immutable snapshots that
// stay valid. The rest is the write side, for the one informer that owns the store. Absence here
// never proves absence there: only the API server's own NotFound does.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "compute_domain/api/meta.h"
#include "compute_domain/base/sorted_chunks.h"
#include "compute_domain/base/text.h"

namespace cdom::kube {

// The number in a resource version; 0 when it is none. Kubernetes compares them as numbers within
// one kind (KEP-5504).
inline std::uint64_t version_number(const std::string& resource_version) {
  std::uint64_t number = 0;
  const char* end = resource_version.data() + resource_version.size();
  const auto [at, error] = std::from_chars(resource_version.data(), end, number);
  return error == std::errc() && at == end ? number : 0;
}

// One change of the store: null `before` means added, null `after` deleted.
template <class T>
struct Change {
  std::shared_ptr<const T> before, after;
};

template <class T>
class Store {
 public:
  using Snapshot = std::shared_ptr<const T>;
  // The values under which an index knows an object, by the index's name.
  using Indexes = std::map<std::string, std::function<std::vector<std::string>(const T&)>>;

  explicit Store(Indexes indexes = {}) : indexes_(std::move(indexes)) {}

  // Null when it is not here.
  [[nodiscard]] Snapshot get(const api::ObjectName& name) const;
  // In the order of their names.
  [[nodiscard]] std::vector<Snapshot> all() const;
  // In the order of their names; throws std::out_of_range for an index that does not exist.
  [[nodiscard]] std::vector<Snapshot> by_index(const std::string& index,
                                               const std::string& value) const;
  [[nodiscard]] std::size_t size() const;
  // Whether it has ever been listed completely.
  [[nodiscard]] bool has_synced() const;
  // Every change up to this resource version is in here; 0 before the first list.
  [[nodiscard]] std::uint64_t seen_version() const;

  Change<T> put(T object);
  Change<T> remove(const api::ObjectName& name);
  // Makes `objects` the whole content, at once for all readers; of `kept` what is here stays.
  std::vector<Change<T>> replace(std::vector<T> objects, const std::string& resource_version,
                                 const std::set<api::ObjectName>& kept = {});
  void see_version(const std::string& resource_version);

 private:
  // The number of the place where an object lies, for as long as it is here. What stands beside the
  // objects names them by it: a cluster has a hundred thousand of a kind, whose names would take
  // more than they do themselves.
  using Slot = std::uint32_t;
  // That an index knows the object of `slot` under a value of this hash.
  struct Entry {
    std::uint32_t hash;
    Slot slot;

    friend auto operator<=>(const Entry&, const Entry&) = default;
  };

  static std::uint32_t hash_of(std::size_t index, std::string_view value);
  // The first whose name is not before `name`.
  [[nodiscard]] base::SortedChunks<Slot>::Place first_from(std::string_view ns,
                                                           std::string_view name) const;
  [[nodiscard]] bool is_at(base::SortedChunks<Slot>::Place place, std::string_view ns,
                           std::string_view name) const;
  Slot new_slot(Snapshot object);
  std::pair<Slot, Change<T>> put_locked(T object);
  Change<T> remove_locked(std::string_view ns, std::string_view name);
  // By which the indexes know an object.
  [[nodiscard]] std::vector<std::uint32_t> hashes_of(const T& object) const;
  void index_locked(Slot slot, const std::vector<std::uint32_t>& before,
                    const std::vector<std::uint32_t>& after);

  const Indexes indexes_;
  mutable std::shared_mutex mutex_;
  std::deque<Snapshot> objects_;  // by slot; null where a slot is free
  std::vector<Slot> free_;
  base::SortedChunks<Slot> by_name_;
  base::SortedChunks<Entry> by_value_;
  std::uint64_t seen_version_ = 0;
  bool synced_ = false;
};

template <class T>
std::uint32_t Store<T>::hash_of(std::size_t index, std::string_view value) {
  const std::uint64_t hash = base::fnv1a64(value) + index * 0x9e3779b97f4a7c15;
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

template <class T>
base::SortedChunks<typename Store<T>::Slot>::Place Store<T>::first_from(
    std::string_view ns, std::string_view name) const {
  return by_name_.first_not([&](Slot slot) {
    const api::ObjectMeta& meta = objects_[slot]->meta;
    return std::tie(meta.ns, meta.name) < std::tie(ns, name);
  });
}

template <class T>
bool Store<T>::is_at(base::SortedChunks<Slot>::Place place, std::string_view ns,
                     std::string_view name) const {
  if (place == by_name_.end()) return false;
  const api::ObjectMeta& meta = objects_[*place]->meta;
  return meta.ns == ns && meta.name == name;
}

template <class T>
typename Store<T>::Snapshot Store<T>::get(const api::ObjectName& name) const {
  const std::shared_lock lock(mutex_);
  const auto place = first_from(name.ns, name.name);
  return is_at(place, name.ns, name.name) ? objects_[*place] : nullptr;
}

template <class T>
std::vector<typename Store<T>::Snapshot> Store<T>::all() const {
  const std::shared_lock lock(mutex_);
  std::vector<Snapshot> out;
  out.reserve(by_name_.size());
  for (const Slot slot : by_name_) out.push_back(objects_[slot]);
  return out;
}

template <class T>
std::vector<typename Store<T>::Snapshot> Store<T>::by_index(const std::string& index,
                                                            const std::string& value) const {
  const auto found = indexes_.find(index);
  if (found == indexes_.end()) throw std::out_of_range("no index " + index);
  const auto position = static_cast<std::size_t>(std::distance(indexes_.begin(), found));
  const Entry first{hash_of(position, value), 0};
  std::vector<Snapshot> out;
  {
    const std::shared_lock lock(mutex_);
    auto it = by_value_.first_not([&](const Entry& entry) { return entry < first; });
    for (; it != by_value_.end() && (*it).hash == first.hash; ++it) {
      out.push_back(objects_[(*it).slot]);
    }
  }
  // Other values may have the same hash.
  std::erase_if(out, [&](const Snapshot& object) {
    const std::vector<std::string> values = found->second(*object);
    return std::ranges::find(values, value) == values.end();
  });
  std::ranges::sort(out, [](const Snapshot& a, const Snapshot& b) {
    return std::tie(a->meta.ns, a->meta.name) < std::tie(b->meta.ns, b->meta.name);
  });
  return out;
}

template <class T>
std::size_t Store<T>::size() const {
  const std::shared_lock lock(mutex_);
  return by_name_.size();
}

template <class T>
bool Store<T>::has_synced() const {
  const std::shared_lock lock(mutex_);
  return synced_;
}

template <class T>
std::uint64_t Store<T>::seen_version() const {
  const std::shared_lock lock(mutex_);
  return seen_version_;
}

template <class T>
Change<T> Store<T>::put(T object) {
  const std::unique_lock lock(mutex_);
  return put_locked(std::move(object)).second;
}

template <class T>
Change<T> Store<T>::remove(const api::ObjectName& name) {
  const std::unique_lock lock(mutex_);
  return remove_locked(name.ns, name.name);
}

template <class T>
std::vector<Change<T>> Store<T>::replace(std::vector<T> objects,
                                         const std::string& resource_version,
                                         const std::set<api::ObjectName>& kept) {
  const std::unique_lock lock(mutex_);
  std::vector<Change<T>> changes;
  std::vector<bool> stays(objects_.size());  // by slot
  for (T& object : objects) {
    auto [slot, change] = put_locked(std::move(object));
    if (slot >= stays.size()) stays.resize(slot + 1);
    stays[slot] = true;
    if (!change.before || !(*change.before == *change.after)) changes.push_back(std::move(change));
  }
  std::vector<api::ObjectName> gone;
  for (const Slot slot : by_name_) {
    if (stays[slot]) continue;
    api::ObjectName name = api::name_of(objects_[slot]->meta);
    if (!kept.contains(name)) gone.push_back(std::move(name));
  }
  for (const api::ObjectName& name : gone) changes.push_back(remove_locked(name.ns, name.name));
  seen_version_ = version_number(resource_version);
  synced_ = true;
  return changes;
}

template <class T>
void Store<T>::see_version(const std::string& resource_version) {
  const std::unique_lock lock(mutex_);
  seen_version_ = version_number(resource_version);
}

template <class T>
typename Store<T>::Slot Store<T>::new_slot(Snapshot object) {
  if (free_.empty()) {
    objects_.push_back(std::move(object));
    return static_cast<Slot>(objects_.size() - 1);
  }
  const Slot slot = free_.back();
  free_.pop_back();
  objects_[slot] = std::move(object);
  return slot;
}

template <class T>
std::pair<typename Store<T>::Slot, Change<T>> Store<T>::put_locked(T object) {
  auto after = std::make_shared<const T>(std::move(object));
  const auto place = first_from(after->meta.ns, after->meta.name);
  if (!is_at(place, after->meta.ns, after->meta.name)) {
    const Slot slot = new_slot(after);
    by_name_.insert(place, slot);
    index_locked(slot, {}, hashes_of(*after));
    return {slot, {nullptr, std::move(after)}};
  }
  const Slot slot = *place;
  Snapshot before = std::exchange(objects_[slot], after);
  index_locked(slot, hashes_of(*before), hashes_of(*after));
  return {slot, {std::move(before), std::move(after)}};
}

template <class T>
Change<T> Store<T>::remove_locked(std::string_view ns, std::string_view name) {
  const auto place = first_from(ns, name);
  if (!is_at(place, ns, name)) return {};
  const Slot slot = *place;
  by_name_.erase(place);
  free_.push_back(slot);
  Snapshot before = std::exchange(objects_[slot], nullptr);
  index_locked(slot, hashes_of(*before), {});
  return {std::move(before), nullptr};
}

template <class T>
std::vector<std::uint32_t> Store<T>::hashes_of(const T& object) const {
  std::vector<std::uint32_t> hashes;
  std::size_t index = 0;
  for (const auto& [name, values_of] : indexes_) {
    for (const std::string& value : values_of(object)) hashes.push_back(hash_of(index, value));
    ++index;
  }
  return hashes;
}

template <class T>
void Store<T>::index_locked(Slot slot, const std::vector<std::uint32_t>& before,
                            const std::vector<std::uint32_t>& after) {
  if (before == after) return;
  const auto place_of = [&](const Entry& entry) {
    return by_value_.first_not([&](const Entry& other) { return other < entry; });
  };
  for (const std::uint32_t hash : before) {
    const auto place = place_of({hash, slot});
    // Two of its values may have the same hash.
    if (place != by_value_.end() && *place == Entry{hash, slot}) by_value_.erase(place);
  }
  for (const std::uint32_t hash : after) {
    const auto place = place_of({hash, slot});
    if (place == by_value_.end() || *place != Entry{hash, slot}) {
      by_value_.insert(place, {hash, slot});
    }
  }
}

}  // namespace cdom::kube
