// Documents: the parts of decode and encode that are the same for every kind.
//
// A reader gets the place of the object; what it fills belongs to the caller. A page or a watch
// event is cut into its objects first, so that each of them is read, or fails, by itself.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "api/fields.h"
#include "compute_domain/api/codec.h"

namespace cdom::api {

// `version` is one of Kind::versions: what the object says that it is of.
using ReadObject =
    std::function<void(Decoding& decoding, const Json& json, std::string_view version)>;

// Reads by the table of T. A T that has a member `version` keeps it.
template <class T>
ReadObject into(T& object) {
  return [&object](Decoding& decoding, const Json& json, std::string_view version) {
    read(decoding, json, object);
    if constexpr (requires { object.version; }) object.version = version;
  };
}

struct PageHead {
  std::string resource_version, continue_token;
  std::vector<Unreadable> unreadable;
};

struct EventHead {
  WatchType type = WatchType::Unknown;
  Status status;                         // of Error
  std::string resource_version;          // of Bookmark
  std::optional<Unreadable> unreadable;  // the object
};

// What is read of an object of the kind, in any version: what its table reads, and what it is.
Wanted wanted_of_object(const Kind& kind, Wanted of_table);

// By the table of T.
template <HasFields T>
const Wanted& wanted_of() {
  static const Wanted wanted = wanted_of_object(kind_of<T>(), wanted_fields<T>());
  return wanted;
}

base::Result<void> decode_document(const Kind& kind, const Wanted& wanted, std::string_view json,
                                   const ReadObject& read);
// Calls `read` for each item that is JSON of the kind; one whose decoding fails is unreadable.
base::Result<PageHead> decode_list(const Kind& kind, const Wanted& wanted, std::string_view json,
                                   const ReadObject& read);
// Calls `read` for an event that has an object of the kind.
base::Result<EventHead> decode_event(const Kind& kind, const Wanted& wanted, std::string_view line,
                                     const ReadObject& read);
// The same of whatever kind when `kind` is null, by the text of each object; `of_list` is the type
// of the list in which it came.
using ReadText = std::function<base::Result<void>(std::string_view text, const TypeMeta& of_list)>;
base::Result<PageHead> decode_list(const Kind* kind, std::string_view json, const ReadText& read);
base::Result<EventHead> decode_event(const Kind* kind, std::string_view line, const ReadText& read);
std::string encode_document(const Kind& kind, std::string_view version,
                            const std::function<void(Json&)>& write);

template <class T>
base::Result<T> decode(std::string_view json) {
  T object;
  const auto done = decode_document(kind_of<T>(), wanted_of<T>(), json, into(object));
  if (!done) return done.error();
  return object;
}

// A page whose items have been read.
template <class T>
base::Result<Page<T>> page_of(base::Result<PageHead> head, std::vector<T> items) {
  if (!head) return head.error();
  return Page<T>{std::move(items), std::move(head->resource_version),
                 std::move(head->continue_token), std::move(head->unreadable)};
}

template <class T>
base::Result<Page<T>> decode_page(std::string_view json) {
  std::vector<T> items;
  const auto read_it = [&](Decoding& decoding, const Json& item, std::string_view version) {
    T object;
    into(object)(decoding, item, version);
    if (!decoding.has_failed()) items.push_back(std::move(object));
  };
  auto head = decode_list(kind_of<T>(), wanted_of<T>(), json, read_it);
  return page_of(std::move(head), std::move(items));
}

// An event whose object has been read into `event`.
template <class T>
base::Result<WatchEvent<T>> event_of(base::Result<EventHead> head, WatchEvent<T> event) {
  if (!head) return head.error();
  event.type = head->type;
  event.status = std::move(head->status);
  if (head->type == WatchType::Bookmark) {
    event.object.meta.resource_version = std::move(head->resource_version);
  }
  if (!head->unreadable) return event;
  event.object = {};
  ObjectMeta& meta = event.object.meta;
  std::tie(meta.ns, meta.name) = std::tie(head->unreadable->name.ns, head->unreadable->name.name);
  meta.uid = head->unreadable->uid;
  meta.resource_version = head->unreadable->resource_version;
  event.unreadable = std::move(head->unreadable);
  return event;
}

template <class T>
base::Result<WatchEvent<T>> decode_watch_event(std::string_view line) {
  WatchEvent<T> event;
  auto head = decode_event(kind_of<T>(), wanted_of<T>(), line, into(event.object));
  return event_of(std::move(head), std::move(event));
}

template <class T>
std::string encode(const T& object, std::string_view version) {
  return encode_document(kind_of<T>(), version, [&](Json& json) { write(json, object); });
}

}  // namespace cdom::api

// The codec of one kind, instantiated in the one .cpp file that has its table.
#define CDOM_API_CODEC(T)                                                       \
  template base::Result<T> decode<T>(std::string_view);                         \
  template base::Result<Page<T>> decode_page<T>(std::string_view);              \
  template base::Result<WatchEvent<T>> decode_watch_event<T>(std::string_view); \
  template std::string encode<T>(const T&, std::string_view)
