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
#include <utility>
#include <vector>

#include "compute_domain/api/meta.h"
#include "compute_domain/base/sorted_chunks.h"
#include "compute_domain/base/text.h"
#include "compute_domain/kube/kept.h"

namespace cdom::kube {

// The number in a resource version; 0 when it is none. Kubernetes compares them as numbers within
// one kind (KEP-5504).
inline std::uint64_t version_number(const std::string& resource_version) {
  std::uint64_t number = 0;
  const char* end = resource_version.data() + resource_version.size();
  const auto [at, error] = std::from_chars(resource_version.data(), end, number);
  return error == std::errc() && at == end ? number : 0;
}

// One change of the store: null `before` means added, null `after` deleted. Where objects are
// packed and nothing but the resource version has changed, `before` is `after`.
template <class T>
struct Change {
  std::shared_ptr<const T> before, after;
};

template <class T, template <class> class Form = AsIs>
class Store {
 public:
  using Snapshot = std::shared_ptr<const T>;
  // An object as it is kept here; what `false` is of it: none.
  using Kept = typename Form<T>::Kept;
  // The values under which an index knows an object, by the index's name.
  using Indexes = std::map<std::string, std::function<std::vector<std::string>(const T&)>>;

  explicit Store(Indexes indexes = {}) : indexes_(std::move(indexes)) {}

  // Null when it is not here.
  [[nodiscard]] Snapshot get(const api::ObjectName& name) const;
  // In the order of their names.
  [[nodiscard]] std::vector<Snapshot> all() const;
  // Shows the same to `visit`, one after the other, so that of packed objects never all have to be
  // unpacked. They are of one moment; `visit` may take its time.
  template <class Visit>
  void for_each(const Visit& visit) const;
  // In the order of their names; throws std::out_of_range for an index that does not exist.
  [[nodiscard]] std::vector<Snapshot> by_index(const std::string& index,
                                               const std::string& value) const;
  // Whether there is any; opens no more objects than it has to.
  [[nodiscard]] bool has(const std::string& index, const std::string& value) const;
  [[nodiscard]] std::size_t size() const;
  // How often something has changed here: what was worked out of all objects holds while it is the
  // same.
  [[nodiscard]] std::uint64_t changes() const;
  // Whether it has ever been listed completely.
  [[nodiscard]] bool has_synced() const;
  // Every change up to this resource version is in here; 0 before the first list.
  [[nodiscard]] std::uint64_t seen_version() const;

  Change<T> put(T object) { return put(std::make_shared<const T>(std::move(object))); }
  Change<T> put(Snapshot after);
  Change<T> remove(const api::ObjectName& name);
  // What a list brings: a change of each object that is not as it was, which opened() shows.
  struct KeptChange {
    Kept before, after;
  };
  static Kept kept(T object) { return Form<T>::keep(std::make_shared<const T>(std::move(object))); }
  static Change<T> opened(const KeptChange& change);
  // Makes `objects` the whole content, at once for all readers; of `staying` what is here stays.
  std::vector<KeptChange> replace(std::vector<Kept> objects, const std::string& resource_version,
                                  const std::set<api::ObjectName>& staying = {});
  void see_version(const std::string& resource_version);

 private:
  // The number of the place where an object lies, for as long as it is here. What stands beside the
  // objects names them by it: a cluster has a hundred thousand of a kind, whose names would take
  // more than they do themselves.
  using Slot = std::uint32_t;
  using Place = base::SortedChunks<Slot>::Place;
  // That an index knows the object of `slot` under a value of this hash.
  struct Entry {
    std::uint32_t hash;
    Slot slot;

    friend auto operator<=>(const Entry&, const Entry&) = default;
  };

  static std::uint32_t hash_of(std::size_t index, std::string_view value);
  // Shows `visit` the objects that the index knows under the value, in the order of their names,
  // until it gives false.
  template <class Visit>
  void visit_index(const std::string& index, const std::string& value, const Visit& visit) const;
  // The first whose name is not before `name`.
  [[nodiscard]] Place first_from(const api::PackedName& name) const;
  [[nodiscard]] bool is_at(const Place& place, const api::PackedName& name) const;
  // Where `object` lies from now on, and what lay there before.
  std::pair<Slot, Kept> exchange_locked(const Kept& object);
  Kept remove_locked(const api::PackedName& name);
  // By which the indexes know an object; none for none.
  [[nodiscard]] std::vector<std::uint32_t> hashes_of(const Snapshot& object) const;
  void index_locked(Slot slot, const std::vector<std::uint32_t>& before,
                    const std::vector<std::uint32_t>& after);

  const Indexes indexes_;
  mutable std::shared_mutex mutex_;
  std::deque<Kept> objects_;  // by slot; none where a slot is free
  std::vector<Slot> free_;
  base::SortedChunks<Slot> by_name_;
  base::SortedChunks<Entry> by_value_;
  std::uint64_t seen_version_ = 0;
  std::uint64_t changes_ = 0;
  bool synced_ = false;
};

template <class T, template <class> class Form>
std::uint32_t Store<T, Form>::hash_of(std::size_t index, std::string_view value) {
  const std::uint64_t hash = base::fnv1a64(value) + index * 0x9e3779b97f4a7c15;
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

template <class T, template <class> class Form>
typename Store<T, Form>::Place Store<T, Form>::first_from(const api::PackedName& name) const {
  return by_name_.first_not([&](Slot slot) { return Form<T>::name_of(objects_[slot]) < name; });
}

template <class T, template <class> class Form>
bool Store<T, Form>::is_at(const Place& place, const api::PackedName& name) const {
  return place != by_name_.end() && Form<T>::name_of(objects_[*place]) == name;
}

template <class T, template <class> class Form>
typename Store<T, Form>::Snapshot Store<T, Form>::get(const api::ObjectName& name) const {
  Kept object;
  {
    const std::shared_lock lock(mutex_);
    const auto place = first_from({name.ns, name.name});
    if (is_at(place, {name.ns, name.name})) object = objects_[*place];
  }
  return Form<T>::open(object);
}

template <class T, template <class> class Form>
std::vector<typename Store<T, Form>::Snapshot> Store<T, Form>::all() const {
  std::vector<Snapshot> out;
  for_each([&](const Snapshot& object) { out.push_back(object); });
  return out;
}

template <class T, template <class> class Form>
template <class Visit>
void Store<T, Form>::for_each(const Visit& visit) const {
  std::vector<Kept> objects;
  {
    const std::shared_lock lock(mutex_);
    objects.reserve(by_name_.size());
    for (const Slot slot : by_name_) objects.push_back(objects_[slot]);
  }
  for (const Kept& object : objects) visit(Form<T>::open(object));
}

template <class T, template <class> class Form>
template <class Visit>
void Store<T, Form>::visit_index(const std::string& index, const std::string& value,
                                 const Visit& visit) const {
  const auto found = indexes_.find(index);
  if (found == indexes_.end()) throw std::out_of_range("no index " + index);
  const auto position = static_cast<std::size_t>(std::distance(indexes_.begin(), found));
  const Entry first{hash_of(position, value), 0};
  std::vector<Kept> candidates;
  {
    const std::shared_lock lock(mutex_);
    auto it = by_value_.first_not([&](const Entry& entry) { return entry < first; });
    for (; it != by_value_.end() && (*it).hash == first.hash; ++it) {
      candidates.push_back(objects_[(*it).slot]);
    }
  }
  std::ranges::sort(candidates, {}, Form<T>::name_of);
  for (const Kept& candidate : candidates) {
    const Snapshot object = Form<T>::open(candidate);
    // Other values may have the same hash.
    const std::vector<std::string> values = found->second(*object);
    if (std::ranges::find(values, value) == values.end()) continue;
    if (!visit(object)) return;
  }
}

template <class T, template <class> class Form>
std::vector<typename Store<T, Form>::Snapshot> Store<T, Form>::by_index(
    const std::string& index, const std::string& value) const {
  std::vector<Snapshot> out;
  visit_index(index, value, [&](const Snapshot& object) {
    out.push_back(object);
    return true;
  });
  return out;
}

template <class T, template <class> class Form>
bool Store<T, Form>::has(const std::string& index, const std::string& value) const {
  bool is_there = false;
  visit_index(index, value, [&](const Snapshot& /*object*/) {
    is_there = true;
    return false;
  });
  return is_there;
}

template <class T, template <class> class Form>
std::size_t Store<T, Form>::size() const {
  const std::shared_lock lock(mutex_);
  return by_name_.size();
}

template <class T, template <class> class Form>
std::uint64_t Store<T, Form>::changes() const {
  const std::shared_lock lock(mutex_);
  return changes_;
}

template <class T, template <class> class Form>
bool Store<T, Form>::has_synced() const {
  const std::shared_lock lock(mutex_);
  return synced_;
}

template <class T, template <class> class Form>
std::uint64_t Store<T, Form>::seen_version() const {
  const std::shared_lock lock(mutex_);
  return seen_version_;
}

template <class T, template <class> class Form>
Change<T> Store<T, Form>::put(Snapshot after) {
  const Kept kept = Form<T>::keep(after);
  const std::unique_lock lock(mutex_);
  const auto [slot, replaced] = exchange_locked(kept);
  if (replaced && Form<T>::difference(replaced, kept) != Difference::Unknown) return {after, after};
  Snapshot before = Form<T>::open(replaced);
  index_locked(slot, hashes_of(before), hashes_of(after));
  return {std::move(before), std::move(after)};
}

template <class T, template <class> class Form>
Change<T> Store<T, Form>::remove(const api::ObjectName& name) {
  const std::unique_lock lock(mutex_);
  return {Form<T>::open(remove_locked({name.ns, name.name})), nullptr};
}

template <class T, template <class> class Form>
Change<T> Store<T, Form>::opened(const KeptChange& change) {
  const auto& [before, after] = change;
  Snapshot now = Form<T>::open(after);
  if (before && after && Form<T>::difference(before, after) != Difference::Unknown) {
    return {now, now};
  }
  return {Form<T>::open(before), std::move(now)};
}

template <class T, template <class> class Form>
std::vector<typename Store<T, Form>::KeptChange> Store<T, Form>::replace(
    std::vector<Kept> objects, const std::string& resource_version,
    const std::set<api::ObjectName>& staying) {
  const std::unique_lock lock(mutex_);
  std::vector<KeptChange> changes;
  std::vector<bool> listed(objects_.size());  // by slot
  for (Kept& object : objects) {
    auto [slot, replaced] = exchange_locked(object);
    if (slot >= listed.size()) listed.resize(slot + 1);
    listed[slot] = true;
    const Difference difference =
        replaced ? Form<T>::difference(replaced, object) : Difference::Unknown;
    bool is_same = difference == Difference::None;
    if (difference == Difference::Unknown) {
      const Snapshot before = Form<T>::open(replaced), after = Form<T>::open(object);
      index_locked(slot, hashes_of(before), hashes_of(after));
      is_same = before && *before == *after;
    }
    if (!is_same) changes.push_back({std::move(replaced), std::move(object)});
  }
  std::vector<Kept> gone;
  for (const Slot slot : by_name_) {
    if (listed[slot]) continue;
    const auto [ns, name] = Form<T>::name_of(objects_[slot]);
    if (!staying.contains({std::string(ns), std::string(name)})) gone.push_back(objects_[slot]);
  }
  for (Kept& object : gone) {
    remove_locked(Form<T>::name_of(object));
    changes.push_back({std::move(object), {}});
  }
  seen_version_ = version_number(resource_version);
  synced_ = true;
  return changes;
}

template <class T, template <class> class Form>
void Store<T, Form>::see_version(const std::string& resource_version) {
  const std::unique_lock lock(mutex_);
  seen_version_ = version_number(resource_version);
}

template <class T, template <class> class Form>
std::pair<typename Store<T, Form>::Slot, typename Store<T, Form>::Kept>
Store<T, Form>::exchange_locked(const Kept& object) {
  ++changes_;
  const api::PackedName name = Form<T>::name_of(object);
  const auto place = first_from(name);
  if (is_at(place, name)) return {*place, std::exchange(objects_[*place], object)};
  auto slot = static_cast<Slot>(objects_.size());
  if (free_.empty()) {
    objects_.push_back(object);
  } else {
    slot = free_.back();
    free_.pop_back();
    objects_[slot] = object;
  }
  by_name_.insert(place, slot);
  return {slot, {}};
}

template <class T, template <class> class Form>
typename Store<T, Form>::Kept Store<T, Form>::remove_locked(const api::PackedName& name) {
  const auto place = first_from(name);
  if (!is_at(place, name)) return {};
  ++changes_;
  const Slot slot = *place;
  by_name_.erase(place);
  free_.push_back(slot);
  Kept before = std::exchange(objects_[slot], {});
  index_locked(slot, hashes_of(Form<T>::open(before)), {});
  return before;
}

template <class T, template <class> class Form>
std::vector<std::uint32_t> Store<T, Form>::hashes_of(const Snapshot& object) const {
  std::vector<std::uint32_t> hashes;
  if (object == nullptr) return hashes;
  std::size_t index = 0;
  for (const auto& [name, values_of] : indexes_) {
    for (const std::string& value : values_of(*object)) hashes.push_back(hash_of(index, value));
    ++index;
  }
  return hashes;
}

template <class T, template <class> class Form>
void Store<T, Form>::index_locked(Slot slot, const std::vector<std::uint32_t>& before,
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
