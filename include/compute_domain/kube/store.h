// Store: the objects of one kind as the API server last showed them.
//
// What is const is the read side: thread-safe, and what it hands out are immutable snapshots that
// stay valid. The rest is the write side, for the one informer that owns the store. Absence here
// never proves absence there: only the API server's own NotFound does.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compute_domain/api/meta.h"

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
  Change<T> put_locked(T object);
  Change<T> remove_locked(const api::ObjectName& name);
  void index_locked(const T& object, bool present);

  // Finds an object by its metadata, without a copy of its name.
  struct ByName {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return std::tie(a.ns, a.name) < std::tie(b.ns, b.name);
    }
  };

  const Indexes indexes_;
  mutable std::shared_mutex mutex_;
  std::map<api::ObjectName, Snapshot, ByName> objects_;
  // (index, value) to the names that have it.
  std::map<std::pair<std::string, std::string>, std::set<api::ObjectName>> names_by_value_;
  std::uint64_t seen_version_ = 0;
  bool synced_ = false;
};

template <class T>
typename Store<T>::Snapshot Store<T>::get(const api::ObjectName& name) const {
  const std::shared_lock lock(mutex_);
  const auto it = objects_.find(name);
  return it == objects_.end() ? nullptr : it->second;
}

template <class T>
std::vector<typename Store<T>::Snapshot> Store<T>::all() const {
  const std::shared_lock lock(mutex_);
  std::vector<Snapshot> out;
  out.reserve(objects_.size());
  for (const auto& [name, object] : objects_) out.push_back(object);
  return out;
}

template <class T>
std::vector<typename Store<T>::Snapshot> Store<T>::by_index(const std::string& index,
                                                            const std::string& value) const {
  indexes_.at(index);
  const std::shared_lock lock(mutex_);
  std::vector<Snapshot> out;
  const auto it = names_by_value_.find({index, value});
  if (it == names_by_value_.end()) return out;
  for (const api::ObjectName& name : it->second) out.push_back(objects_.at(name));
  return out;
}

template <class T>
std::size_t Store<T>::size() const {
  const std::shared_lock lock(mutex_);
  return objects_.size();
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
  return put_locked(std::move(object));
}

template <class T>
Change<T> Store<T>::remove(const api::ObjectName& name) {
  const std::unique_lock lock(mutex_);
  return remove_locked(name);
}

template <class T>
std::vector<Change<T>> Store<T>::replace(std::vector<T> objects,
                                         const std::string& resource_version,
                                         const std::set<api::ObjectName>& kept) {
  const std::unique_lock lock(mutex_);
  std::set<api::ObjectName> gone;
  for (const auto& [name, object] : objects_) {
    if (!kept.contains(name)) gone.insert(name);
  }
  std::vector<Change<T>> changes;
  for (T& object : objects) {
    gone.erase(api::name_of(object.meta));
    Change<T> change = put_locked(std::move(object));
    if (!change.before || !(*change.before == *change.after)) changes.push_back(std::move(change));
  }
  for (const api::ObjectName& name : gone) changes.push_back(remove_locked(name));
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
Change<T> Store<T>::put_locked(T object) {
  auto after = std::make_shared<const T>(std::move(object));
  auto slot = objects_.find(after->meta);
  if (slot == objects_.end()) slot = objects_.emplace(api::name_of(after->meta), nullptr).first;
  const Snapshot before = std::exchange(slot->second, after);
  if (before) index_locked(*before, false);
  index_locked(*after, true);
  return {before, std::move(after)};
}

template <class T>
Change<T> Store<T>::remove_locked(const api::ObjectName& name) {
  const auto it = objects_.find(name);
  if (it == objects_.end()) return {};
  const Snapshot before = std::move(it->second);
  objects_.erase(it);
  index_locked(*before, false);
  return {before, nullptr};
}

template <class T>
void Store<T>::index_locked(const T& object, bool present) {
  if (indexes_.empty()) return;
  const api::ObjectName name = api::name_of(object.meta);
  for (const auto& [index, values_of] : indexes_) {
    for (const std::string& value : values_of(object)) {
      const std::pair key(index, value);
      if (present) {
        names_by_value_[key].insert(name);
      } else if (const auto it = names_by_value_.find(key); it != names_by_value_.end()) {
        it->second.erase(name);
        if (it->second.empty()) names_by_value_.erase(it);
      }
    }
  }
}

}  // namespace cdom::kube
