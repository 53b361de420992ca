// Documents: the parts of decode and encode that are the same for every kind.
//
// A reader gets the place of the object; what it fills belongs to the caller. A page or a watch
// event is cut into its objects first, so that each of them is read, or fails, by itself.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "api/fields/fields.h"
#include "api/fields/heads.h"
#include "api/json/wanted_index.h"
#include "api/protobuf/envelope.h"
#include "api/protobuf/messages.h"
#include "api/reading.h"
#include "compute_domain/api/codec.h"

namespace cdom::api {

// `version` is one of Kind::versions: what the object says that it is of. It is called again for an
// object that the quick reader did not take.
using ReadObject =
    FunctionRef<void(Decoding& decoding, const JsonView& json, std::string_view version)>;

// Reads by the table of T. A T that has a member `version` keeps it.
template <class T>
auto into(T& object) {
  return [&object](Decoding& decoding, const JsonView& json, std::string_view version) {
    object = {};
    read(decoding, json, object);
    if constexpr (requires { object.version; }) object.version = version;
  };
}

// What is read of an object of a kind, in any version: what its table reads, and what it is.
struct WantedObject {
  WantedDocument object;
  WantedIndex event;  // of a watch event that has such an object
};
WantedObject wanted_of_object(const Kind& kind, Wanted of_table);

// By the table of T.
template <HasFields T>
const WantedObject& wanted_of() {
  static const WantedObject wanted = wanted_of_object(kind_of<T>(), wanted_fields<T>());
  return wanted;
}

base::Result<void> decode_document(const Kind& kind, const WantedObject& wanted,
                                   std::string_view json, ReadObject read,
                                   Reading reading = Reading::Quick);
// Calls `read` for each item that is JSON of the kind; one whose decoding fails is unreadable.
base::Result<PageHead> decode_list(const Kind& kind, const WantedObject& wanted,
                                   std::string_view json, ReadObject read,
                                   Reading reading = Reading::Quick);
// Calls `read` for an event that has an object of the kind.
base::Result<EventHead> decode_event(const Kind& kind, const WantedObject& wanted,
                                     std::string_view line, ReadObject read,
                                     Reading reading = Reading::Quick);
// The same of whatever kind when `kind` is null, by the text of each object; `of_list` is the type
// of the list in which it came.
using ReadText = FunctionRef<base::Result<void>(std::string_view text, const TypeMeta& of_list)>;
base::Result<PageHead> decode_list(const Kind* kind, std::string_view json, ReadText read);
base::Result<EventHead> decode_event(const Kind* kind, std::string_view line, ReadText read);
std::string encode_document(const Kind& kind, std::string_view version,
                            FunctionRef<void(Json&)> write);

template <class T>
base::Result<T> decode(std::string_view json, Reading reading) {
  T object;
  const auto done = decode_document(kind_of<T>(), wanted_of<T>(), json, into(object), reading);
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
base::Result<T> decode(std::string_view json) {
  return decode<T>(json, Reading::Quick);
}

template <class T>
base::Result<Page<T>> decode_page(std::string_view json, Reading reading) {
  std::vector<T> items;
  const auto read_it = [&](Decoding& decoding, const JsonView& item, std::string_view version) {
    T object;
    into(object)(decoding, item, version);
    if (!decoding.has_failed()) items.push_back(std::move(object));
  };
  auto head = decode_list(kind_of<T>(), wanted_of<T>(), json, read_it, reading);
  return page_of(std::move(head), std::move(items));
}

template <class T>
base::Result<Page<T>> decode_page(std::string_view text) {
  if constexpr (kIsInProtobuf<T>) {
    if (is_enveloped(text)) {
      std::vector<T> items;
      auto head = read_enveloped_list(kind_of<T>(), text, [&](const MessageReader& item) {
        read_message(item, items.emplace_back());
      });
      return page_of(std::move(head), std::move(items));
    }
  }
  return decode_page<T>(text, Reading::Quick);
}

// Of an object that has been read what its event's head knows.
template <class T>
void complete(T& object, const base::Result<EventHead>& head) {
  if (!head) return;
  if (head->type == WatchType::Bookmark) object.meta.resource_version = head->resource_version;
  if (!head->unreadable) return;
  object = {};
  std::tie(object.meta.ns, object.meta.name) =
      std::tie(head->unreadable->name.ns, head->unreadable->name.name);
  object.meta.uid = head->unreadable->uid;
  object.meta.resource_version = head->unreadable->resource_version;
}

template <class T>
base::Result<EventHead> decode_watch_event(std::string_view line, T& object, Reading reading) {
  auto head = decode_event(kind_of<T>(), wanted_of<T>(), line, into(object), reading);
  complete(object, head);
  return head;
}

template <class T>
base::Result<EventHead> decode_watch_event(std::string_view text, T& object) {
  if constexpr (kIsInProtobuf<T>) {
    if (is_event_message(text)) {
      auto head = read_event_message(kind_of<T>(), text, [&](const MessageReader& of_object) {
        read_message(of_object, object);
      });
      complete(object, head);
      return head;
    }
  }
  return decode_watch_event<T>(text, object, Reading::Quick);
}

template <class T>
base::Result<WatchEvent<T>> event_of(base::Result<EventHead> head, T object) {
  if (!head) return head.error();
  return WatchEvent<T>{*std::move(head), std::move(object)};
}

template <class T>
base::Result<WatchEvent<T>> decode_watch_event(std::string_view line, Reading reading) {
  T object;
  auto head = decode_watch_event<T>(line, object, reading);
  return event_of(std::move(head), std::move(object));
}

template <class T>
base::Result<WatchEvent<T>> decode_watch_event(std::string_view text) {
  T object;
  auto head = decode_watch_event<T>(text, object);
  return event_of(std::move(head), std::move(object));
}

template <class T>
bool reads_protobuf(std::string_view version) {
  return kIsInProtobuf<T> && version == kind_of<T>().versions.front();
}

template <class T>
std::string encode(const T& object, std::string_view version) {
  return encode_document(kind_of<T>(), version, [&](Json& json) { write(json, object); });
}

}  // namespace cdom::api

// The codec of one kind, instantiated in the one .cpp file that has its table.
#define CDOM_API_CODEC(T)                                                                \
  template base::Result<T> decode<T>(std::string_view);                                  \
  template base::Result<T> decode<T>(std::string_view, Reading);                         \
  template base::Result<Page<T>> decode_page<T>(std::string_view);                       \
  template base::Result<Page<T>> decode_page<T>(std::string_view, Reading);              \
  template base::Result<WatchEvent<T>> decode_watch_event<T>(std::string_view);          \
  template base::Result<EventHead> decode_watch_event<T>(std::string_view, T&);          \
  template base::Result<WatchEvent<T>> decode_watch_event<T>(std::string_view, Reading); \
  template bool reads_protobuf<T>(std::string_view);                                     \
  template std::string encode<T>(const T&, std::string_view)
