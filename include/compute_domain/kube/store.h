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
#include "compute_domain/kube/listed.h"

namespace cdom::kube {

// The number in a resource version; 0 when it is none. Kubernetes compares them as numbers within
// one kind (KEP-5504).
inline std::uint64_t version_number(const std::string& resource_version) {
  std::uint64_t number = 0;
  const char* end = resource_version.data() + resource_version.size();
  const auto [at, error] = std::from_chars(resource_version.data(), end, number);
  return error == std::errc() && at == end ? number : 0;
}

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
  // How often something has changed here, but the version of an object alone where the form of the
  // store knows that: what was worked out of all objects holds while it is the same.
  [[nodiscard]] std::uint64_t changes() const;
  // Whether it has ever been listed completely, and its followers have heard of all that.
  [[nodiscard]] bool has_synced() const;
  // Every change up to this resource version is in here; 0 before the first list.
  [[nodiscard]] std::uint64_t seen_version() const;

  Change<T> put(T object) { return put(std::make_shared<const T>(std::move(object))); }
  Change<T> put(Snapshot after);
  Change<T> remove(const api::ObjectName& name);
  using Listed = kube::Listed<T, Form>;
  using Changes = ListChanges<T, Form>;
  static Kept kept(T object) { return Form<T>::keep(std::make_shared<const T>(std::move(object))); }
  // Makes `objects` the whole content, at once for all readers; of `staying` what is here stays.
  Changes replace(Listed objects, const std::string& resource_version,
                  const std::set<api::ObjectName>& staying = {});
  void see_version(const std::string& resource_version);
  void set_synced();

 private:
  // Slots: an object has the same for as long as it is here. What stands beside the objects names
  // them by it: a cluster has a hundred thousand of a kind, whose names would take more than they
  // do themselves.
  // What is at hand of an object's name: to open the object for it takes longer.
  class Named {
   public:
    Named(Slot slot, std::uint32_t hash) : bits_(hash << kBitsOfSlot | slot) {}
    [[nodiscard]] Slot slot() const { return bits_ & kLastSlot; }
    [[nodiscard]] std::uint32_t hash() const { return bits_ >> kBitsOfSlot; }  // of the name

   private:
    std::uint32_t bits_;
  };
  static constexpr unsigned kBitsOfSlot = 24;
  static constexpr Slot kLastSlot = (Slot{1} << kBitsOfSlot) - 1;
  // A mark is the name of the last object of a chunk.
  using ByName = base::SortedChunks<Named, api::ObjectName>;
  using Place = typename ByName::Place;
  // That an index knows the object of `slot` under a value of this hash.
  struct Entry {
    std::uint32_t hash;
    Slot slot;

    friend auto operator<=>(const Entry&, const Entry&) = default;
  };

  static std::uint32_t hash_of(std::size_t index, std::string_view value);
  // Throws std::out_of_range for an index that does not exist.
  [[nodiscard]] std::size_t position_of(const std::string& index) const;
  // Shows `visit` the objects that an index knows under a value of this hash until it gives false.
  template <class Visit>
  void visit_locked(std::uint32_t hash, const Visit& visit) const;
  // Other values may have the same hash.
  [[nodiscard]] bool has_value(const T& object, const std::string& index,
                               const std::string& value) const;
  static std::uint32_t hash_of(const api::PackedName& name);
  // The one of this name, or the end.
  [[nodiscard]] Place find(const api::PackedName& name) const;
  // Adds one that is not here yet.
  void name_locked(Slot slot, const api::PackedName& name);
  [[nodiscard]] static auto is_before(const api::PackedName& name) {
    return [name](const api::ObjectName& last) {
      return api::PackedName{last.ns, last.name} < name;
    };
  }
  // Makes the mark of one whose object lies in its slot.
  [[nodiscard]] auto mark() const {
    return [this](const Named& named) {
      std::string room;
      const api::PackedName name = objects_.name_at(named.slot(), room);
      return api::ObjectName{std::string(name.ns), std::string(name.name)};
    };
  }
  // Where `object` lies from now on, and what lay there before.
  std::pair<Slot, Kept> exchange_locked(const Kept& object);
  // The same of what lies in this slot already, where a list has brought it.
  std::pair<Slot, Kept> take_in_locked(Slot slot, const Kept& object);
  Kept remove_locked(const api::PackedName& name);
  // By which the indexes know an object; none for none.
  [[nodiscard]] std::vector<std::uint32_t> hashes_of(const Snapshot& object) const;
  void index_locked(Slot slot, const std::vector<std::uint32_t>& before,
                    const std::vector<std::uint32_t>& after);

  const Indexes indexes_;
  mutable std::shared_mutex mutex_;
  typename Form<T>::Shelf objects_;  // by slot; none where a slot is free
  Slot slots_ = 0;                   // so many there are
  std::vector<Slot> free_;
  ByName by_name_;
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
std::uint32_t Store<T, Form>::hash_of(const api::PackedName& name) {
  // The last letters of a text change the low bits of its hash alone.
  return (hash_of(0, name.name) ^ hash_of(1, name.ns)) & 0xff;
}

template <class T, template <class> class Form>
typename Store<T, Form>::Place Store<T, Form>::find(const api::PackedName& name) const {
  std::string room;
  return by_name_.find(is_before(name), [&, hash = hash_of(name)](const Named& named) {
    return named.hash() == hash && objects_.name_at(named.slot(), room) == name;
  });
}

template <class T, template <class> class Form>
void Store<T, Form>::name_locked(Slot slot, const api::PackedName& name) {
  if (slot > kLastSlot) throw std::length_error("a store holds 16,777,216 objects at most");
  std::string room;
  const auto place = by_name_.first_not(
      [&](const Named& named) { return objects_.name_at(named.slot(), room) < name; },
      is_before(name));
  by_name_.insert(place, {slot, hash_of(name)}, mark());
}

template <class T, template <class> class Form>
typename Store<T, Form>::Snapshot Store<T, Form>::get(const api::ObjectName& name) const {
  Kept object;
  {
    const std::shared_lock lock(mutex_);
    const auto place = find({name.ns, name.name});
    if (place != by_name_.end()) object = objects_.at((*place).slot());
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
  typename Form<T>::Shelf objects;
  std::vector<Slot> slots;
  {
    const std::shared_lock lock(mutex_);
    objects = objects_;
    slots.reserve(by_name_.size());
    for (const Named& named : by_name_) slots.push_back(named.slot());
  }
  for (const Slot slot : slots) visit(Form<T>::open(objects.at(slot)));
}

template <class T, template <class> class Form>
std::size_t Store<T, Form>::position_of(const std::string& index) const {
  const auto found = indexes_.find(index);
  if (found == indexes_.end()) throw std::out_of_range("no index " + index);
  return static_cast<std::size_t>(std::distance(indexes_.begin(), found));
}

template <class T, template <class> class Form>
template <class Visit>
void Store<T, Form>::visit_locked(std::uint32_t hash, const Visit& visit) const {
  const Entry first{hash, 0};
  auto it = by_value_.first_not([&](const Entry& entry) { return entry < first; });
  for (; it != by_value_.end() && (*it).hash == hash; ++it) {
    if (!visit(objects_.at((*it).slot))) return;
  }
}

template <class T, template <class> class Form>
bool Store<T, Form>::has_value(const T& object, const std::string& index,
                               const std::string& value) const {
  const std::vector<std::string> values = indexes_.at(index)(object);
  return std::ranges::find(values, value) != values.end();
}

template <class T, template <class> class Form>
std::vector<typename Store<T, Form>::Snapshot> Store<T, Form>::by_index(
    const std::string& index, const std::string& value) const {
  const std::uint32_t hash = hash_of(position_of(index), value);
  std::vector<Kept> candidates;
  {
    const std::shared_lock lock(mutex_);
    visit_locked(hash, [&](Kept object) {
      candidates.push_back(std::move(object));
      return true;
    });
  }
  std::ranges::sort(candidates, {}, Form<T>::name_of);
  std::vector<Snapshot> out;
  for (const Kept& candidate : candidates) {
    Snapshot object = Form<T>::open(candidate);
    if (has_value(*object, index, value)) out.push_back(std::move(object));
  }
  return out;
}

template <class T, template <class> class Form>
bool Store<T, Form>::has(const std::string& index, const std::string& value) const {
  const std::uint32_t hash = hash_of(position_of(index), value);
  bool is_there = false;
  const std::shared_lock lock(mutex_);
  visit_locked(hash, [&](const Kept& object) {
    is_there = has_value(*Form<T>::open(object), index, value);
    return !is_there;
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
typename Store<T, Form>::Changes Store<T, Form>::replace(Listed objects,
                                                         const std::string& resource_version,
                                                         const std::set<api::ObjectName>& staying) {
  const std::unique_lock lock(mutex_);
  Changes changes(std::move(objects));
  const Listed& list = changes.listed();
  // The first list is the content as it is.
  const bool is_first = slots_ == 0;
  if (is_first) {
    objects_ = list.shelf();
    slots_ = list.size();
  }
  std::vector<bool> listed(slots_);  // by slot
  for (Slot at = 0; at < list.size(); ++at) {
    const Kept object = list.shelf().at(at);
    auto [slot, replaced] = is_first ? take_in_locked(at, object) : exchange_locked(object);
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
    if (!is_same) changes.add(std::move(replaced), at);
  }
  std::vector<Kept> gone;
  for (const Named& named : by_name_) {
    if (listed[named.slot()]) continue;
    Kept object = objects_.at(named.slot());
    const auto [ns, name] = Form<T>::name_of(object);
    if (!staying.contains({std::string(ns), std::string(name)})) gone.push_back(std::move(object));
  }
  for (Kept& object : gone) {
    remove_locked(Form<T>::name_of(object));
    changes.add_gone(std::move(object));
  }
  seen_version_ = version_number(resource_version);
  return changes;
}

template <class T, template <class> class Form>
void Store<T, Form>::set_synced() {
  const std::unique_lock lock(mutex_);
  synced_ = true;
}

template <class T, template <class> class Form>
void Store<T, Form>::see_version(const std::string& resource_version) {
  const std::unique_lock lock(mutex_);
  seen_version_ = version_number(resource_version);
}

template <class T, template <class> class Form>
std::pair<Slot, typename Store<T, Form>::Kept> Store<T, Form>::exchange_locked(const Kept& object) {
  const api::PackedName name = Form<T>::name_of(object);
  if (const auto place = find(name); place != by_name_.end()) {
    const Slot slot = (*place).slot();
    Kept before = objects_.at(slot);
    const Difference difference = Form<T>::difference(before, object);
    if (difference == Difference::Unknown) ++changes_;
    if (difference != Difference::None) objects_.set(slot, object);
    return {slot, std::move(before)};
  }
  ++changes_;
  Slot slot = slots_;
  if (free_.empty()) {
    ++slots_;
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  objects_.set(slot, object);
  name_locked(slot, name);
  return {slot, {}};
}

template <class T, template <class> class Form>
std::pair<Slot, typename Store<T, Form>::Kept> Store<T, Form>::take_in_locked(Slot slot,
                                                                              const Kept& object) {
  const api::PackedName name = Form<T>::name_of(object);
  // A name that is listed twice is one object.
  if (find(name) != by_name_.end()) {
    objects_.clear(slot);
    free_.push_back(slot);
    return exchange_locked(object);
  }
  ++changes_;
  name_locked(slot, name);
  return {slot, {}};
}

template <class T, template <class> class Form>
typename Store<T, Form>::Kept Store<T, Form>::remove_locked(const api::PackedName& name) {
  const auto place = find(name);
  if (place == by_name_.end()) return {};
  ++changes_;
  const Slot slot = (*place).slot();
  by_name_.erase(place, mark());
  free_.push_back(slot);
  Kept before = objects_.at(slot);
  objects_.clear(slot);
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
