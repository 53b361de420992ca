// Storage: the objects of the cluster, their resource versions, and the events that led here.
//
// Objects lie in buckets (one per resource) ordered by key: "<namespace>/<name>", or "<name>". One
// counter gives every write its resource version. Each bucket remembers its last events, from which
// watches are fed and earlier states are rebuilt; what is older is Expired. Not thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/base/clock.h"
#include "sandbox/apiserver/storage/snapshot.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox::server {

enum class EventType { Added, Modified, Deleted };

struct Event {
  EventType type = EventType::Added;
  std::uint64_t resource_version = 0;
  base::Duration at{};  // Clock::elapsed() of the write
  std::string key;
  Object object;    // Deleted: the last state, with the resource version of the deletion
  Object previous;  // null when Added
  Snapshot before;  // the whole bucket
  // The line that most watchers get, made for the first of them.
  mutable std::shared_ptr<const std::string> line = nullptr;
};

class Storage {
 public:
  // Remembers about `history` events per bucket.
  explicit Storage(const base::Clock& clock, std::size_t history = 50'000);

  // Objects of this bucket are removed once nobody has written them for `lifetime`, as by a lease
  // of etcd; at the latest with the next write to the bucket.
  void keep_for(std::string_view bucket, base::Duration lifetime);

  // The resource version of the last write. May be read without any lock.
  [[nodiscard]] std::uint64_t resource_version() const { return resource_version_; }

  // Null when there is none.
  [[nodiscard]] Object get(std::string_view bucket, std::string_view key) const;
  // All whose key begins with `prefix` ("" or "<namespace>/"), in order of key.
  [[nodiscard]] std::vector<Object> range(std::string_view bucket, std::string_view prefix) const;
  // The whole bucket as it is, and as it was; nullopt when that is no longer remembered.
  [[nodiscard]] Snapshot snapshot(std::string_view bucket) const;
  [[nodiscard]] std::optional<Snapshot> snapshot_at(std::string_view bucket,
                                                    std::uint64_t resource_version) const;

  // Stores the object with a new resource version and tells it.
  Object put(std::string_view bucket, const std::string& key, json value);
  // Removes the object, which must exist; watchers see `last` as its last state.
  Object remove(std::string_view bucket, const std::string& key, json last);

  // The first event of the bucket after `resource_version`, or null when there is none yet. Valid
  // until the next write.
  [[nodiscard]] const Event* event_after(std::string_view bucket,
                                         std::uint64_t resource_version) const;
  // The resource version of the last event of the bucket, or of the last compact() after it. May be
  // read without any lock, as long as the storage lives.
  [[nodiscard]] const std::atomic<std::uint64_t>& last_change(std::string_view bucket);
  // Notified after a request that changed the bucket, for who waits for an event of it.
  [[nodiscard]] std::condition_variable& changed(std::string_view bucket);
  // Those of all buckets that have changed since this was called last.
  std::vector<std::condition_variable*> take_changed();
  // Whether every event of the bucket after `resource_version` is still remembered.
  [[nodiscard]] bool remembers(std::string_view bucket, std::uint64_t resource_version) const;
  // Forgets all events so far, as etcd's compaction does.
  void compact();

 private:
  struct Lease {
    base::Duration ends;
    std::string key;
    std::uint64_t resource_version;  // of the write that it is for
  };
  struct Bucket {
    Snapshot objects;
    std::deque<Event> events;
    std::uint64_t forgotten = 0;  // resource version of the last event that is not remembered
    std::optional<base::Duration> lifetime;
    std::deque<Lease> leases;  // of buckets with a lifetime, oldest first
    std::atomic<std::uint64_t> last_change = 0;
    std::condition_variable changed;
  };
  void expire(Bucket& bucket);
  Object remove_from(Bucket& bucket, const std::string& key, json last);
  void record(Bucket& bucket, Event event);
  [[nodiscard]] const Bucket* find(std::string_view bucket) const;

  const base::Clock& clock_;
  const std::size_t history_;
  std::atomic<std::uint64_t> resource_version_ = 1;
  std::vector<std::condition_variable*> changed_;
  std::map<std::string, Bucket, std::less<>> buckets_;
};

}  // namespace cdom::sandbox::server
