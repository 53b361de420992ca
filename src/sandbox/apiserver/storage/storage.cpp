#include "sandbox/apiserver/storage/storage.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace cdom::sandbox::server {

StoredObject::StoredObject(json value, std::uint64_t resource_version)
    : resource_version_(resource_version) {
  if (resource_version == 0) {
    value["metadata"].erase("resourceVersion");
  } else {
    value["metadata"]["resourceVersion"] = std::to_string(resource_version);
  }
  text_ = value.dump();
  value_ = std::make_unique<const json>(std::move(value));
}

StoredObject::~StoredObject() = default;

const std::string& StoredObject::text_without_type() const {
  if (text_without_type_.empty()) {
    json copy = *value_;
    copy.erase("apiVersion");
    copy.erase("kind");
    text_without_type_ = copy.dump();
  }
  return text_without_type_;
}

Storage::Storage(const base::Clock& clock, std::size_t history)
    : clock_(clock), history_(history) {}

const Storage::Bucket* Storage::find(std::string_view bucket) const {
  const auto found = buckets_.find(bucket);
  return found == buckets_.end() ? nullptr : &found->second;
}

Object Storage::get(std::string_view bucket, std::string_view key) const {
  const Bucket* in = find(bucket);
  if (in == nullptr) return nullptr;
  const auto found = in->objects.find(key);
  return found == in->objects.end() ? nullptr : found->second;
}

std::vector<Object> Storage::range(std::string_view bucket, std::string_view prefix) const {
  std::vector<Object> out;
  const Bucket* in = find(bucket);
  if (in == nullptr) return out;
  for (auto it = in->objects.lower_bound(prefix);
       it != in->objects.end() && it->first.starts_with(prefix); ++it) {
    out.push_back(it->second);
  }
  return out;
}

std::optional<std::vector<Object>> Storage::range_at(std::string_view bucket,
                                                     std::string_view prefix,
                                                     std::uint64_t resource_version) const {
  const Bucket* in = find(bucket);
  if (in == nullptr) return std::vector<Object>{};
  if (!remembers(bucket, resource_version)) return std::nullopt;

  // Undo, newest first, what happened since.
  std::map<std::string, Object, std::less<>> then;
  for (auto it = in->objects.lower_bound(prefix);
       it != in->objects.end() && it->first.starts_with(prefix); ++it) {
    then.insert(*it);
  }
  for (auto event = in->events.rbegin();
       event != in->events.rend() && event->resource_version > resource_version; ++event) {
    if (!event->key.starts_with(prefix)) continue;
    if (event->previous) {
      then[event->key] = event->previous;
    } else {
      then.erase(event->key);
    }
  }
  std::vector<Object> out;
  out.reserve(then.size());
  for (auto& [key, object] : then) out.push_back(std::move(object));
  return out;
}

Object Storage::put(std::string_view bucket, const std::string& key, json value) {
  Bucket& in = buckets_[std::string(bucket)];
  expire(in);
  Object& slot = in.objects[key];
  Object previous = slot;
  slot = std::make_shared<const StoredObject>(std::move(value), ++resource_version_);
  Object stored = slot;
  record(in, {.type = previous ? EventType::Modified : EventType::Added,
              .resource_version = resource_version_,
              .at = clock_.elapsed(),
              .key = key,
              .object = stored,
              .previous = std::move(previous)});
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
    const auto found = bucket.objects.find(lease.key);
    if (found == bucket.objects.end()) continue;
    const Object object = found->second;
    if (object->resource_version() != lease.resource_version) continue;
    remove_from(bucket, lease.key, object->value());
  }
}

Object Storage::remove(std::string_view bucket, const std::string& key, json last) {
  return remove_from(buckets_[std::string(bucket)], key, std::move(last));
}

Object Storage::remove_from(Bucket& in, const std::string& key, json last) {
  const auto found = in.objects.find(key);
  if (found == in.objects.end()) throw std::logic_error("Storage::remove: no object " + key);
  Object previous = std::move(found->second);
  in.objects.erase(found);
  Object removed = std::make_shared<const StoredObject>(std::move(last), ++resource_version_);
  record(in, {.type = EventType::Deleted,
              .resource_version = resource_version_,
              .at = clock_.elapsed(),
              .key = key,
              .object = removed,
              .previous = std::move(previous)});
  return removed;
}

void Storage::record(Bucket& bucket, Event event) {
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

bool Storage::remembers(std::string_view bucket, std::uint64_t resource_version) const {
  const Bucket* in = find(bucket);
  return in == nullptr || resource_version >= in->forgotten;
}

void Storage::compact() {
  for (auto& [name, bucket] : buckets_) {
    bucket.forgotten = resource_version_;
    bucket.events.clear();
  }
}

}  // namespace cdom::sandbox::server
