#include "sandbox/apiserver/storage/storage.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace cdom::sandbox::server {

Storage::Storage(const base::Clock& clock, std::size_t history)
    : clock_(clock), history_(history) {}

const Storage::Bucket* Storage::find(std::string_view bucket) const {
  const auto found = buckets_.find(bucket);
  return found == buckets_.end() ? nullptr : &found->second;
}

Object Storage::get(std::string_view bucket, std::string_view key) const {
  const Bucket* in = find(bucket);
  return in == nullptr ? nullptr : in->objects.find(key);
}

std::vector<Object> Storage::range(std::string_view bucket, std::string_view prefix) const {
  std::vector<Object> out;
  snapshot(bucket).walk({}, prefix, [&](const std::string&, const Object& object) {
    out.push_back(object);
    return true;
  });
  return out;
}

Snapshot Storage::snapshot(std::string_view bucket) const {
  const Bucket* in = find(bucket);
  return in == nullptr ? Snapshot() : in->objects;
}

std::optional<Snapshot> Storage::snapshot_at(std::string_view bucket,
                                             std::uint64_t resource_version) const {
  if (!remembers(bucket, resource_version)) return std::nullopt;
  const Event* next = event_after(bucket, resource_version);
  return next == nullptr ? snapshot(bucket) : next->before;
}

Object Storage::put(std::string_view bucket, const std::string& key, json value) {
  Bucket& in = buckets_[std::string(bucket)];
  expire(in);
  Snapshot before = in.objects;
  Object previous = before.find(key);
  Object stored = std::make_shared<const StoredObject>(std::move(value), ++resource_version_);
  in.objects = before.with(key, stored);
  record(in, {.type = previous ? EventType::Modified : EventType::Added,
              .resource_version = resource_version_,
              .at = clock_.elapsed(),
              .key = key,
              .object = stored,
              .previous = std::move(previous),
              .before = std::move(before)});
  if (in.lifetime) in.leases.push_back({clock_.elapsed() + *in.lifetime, key, resource_version_});
  return stored;
}

void Storage::keep_for(std::string_view bucket, base::Duration lifetime) {
  buckets_[std::string(bucket)].lifetime = lifetime;
}

void Storage::expire(Bucket& bucket) {
  while (!bucket.leases.empty() && bucket.leases.front().ends <= clock_.elapsed()) {
    const Lease lease = std::move(bucket.leases.front());
    bucket.leases.pop_front();
    const Object object = bucket.objects.find(lease.key);
    if (!object || object->resource_version() != lease.resource_version) continue;
    remove_from(bucket, lease.key, object->value());
  }
}

Object Storage::remove(std::string_view bucket, const std::string& key, json last) {
  return remove_from(buckets_[std::string(bucket)], key, std::move(last));
}

Object Storage::remove_from(Bucket& in, const std::string& key, json last) {
  Snapshot before = in.objects;
  Object previous = before.find(key);
  if (!previous) throw std::logic_error("Storage::remove: no object " + key);
  in.objects = before.without(key);
  Object removed = std::make_shared<const StoredObject>(std::move(last), ++resource_version_);
  record(in, {.type = EventType::Deleted,
              .resource_version = resource_version_,
              .at = clock_.elapsed(),
              .key = key,
              .object = removed,
              .previous = std::move(previous),
              .before = std::move(before)});
  return removed;
}

void Storage::record(Bucket& bucket, Event event) {
  bucket.last_change = event.resource_version;
  if (changed_.empty() || changed_.back() != &bucket.changed) changed_.push_back(&bucket.changed);
  bucket.events.push_back(std::move(event));
  while (bucket.events.size() > history_) {
    bucket.forgotten = bucket.events.front().resource_version;
    bucket.events.pop_front();
  }
}

const Event* Storage::event_after(std::string_view bucket, std::uint64_t resource_version) const {
  const Bucket* in = find(bucket);
  if (in == nullptr) return nullptr;
  const auto next =
      std::ranges::upper_bound(in->events, resource_version, {}, &Event::resource_version);
  return next == in->events.end() ? nullptr : &*next;
}

const std::atomic<std::uint64_t>& Storage::last_change(std::string_view bucket) {
  return buckets_[std::string(bucket)].last_change;
}

std::condition_variable& Storage::changed(std::string_view bucket) {
  return buckets_[std::string(bucket)].changed;
}

std::vector<std::condition_variable*> Storage::take_changed() {
  return std::exchange(changed_, {});
}

bool Storage::remembers(std::string_view bucket, std::uint64_t resource_version) const {
  const Bucket* in = find(bucket);
  return in == nullptr || resource_version >= in->forgotten;
}

void Storage::compact() {
  for (auto& [name, bucket] : buckets_) {
    bucket.forgotten = bucket.last_change = resource_version();
    bucket.events.clear();
  }
}

}  // namespace cdom::sandbox::server
