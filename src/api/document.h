// Documents: the parts of decode and encode that are the same for every kind.
//
// A reader is told where the object is; what it fills belongs to the caller.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "compute_domain/api/codec.h"
#include "fields.h"

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
};

struct EventHead {
  WatchType type = WatchType::Unknown;
  Status status;  // of Error
};

// What is read of the answers about a kind.
struct WantedOfKind {
  Wanted page, event;
};

// At these paths of its objects; everything where older versions have other shapes.
WantedOfKind wanted_at(const Kind& kind, const std::vector<JsonPath>& paths);

// By the table of T.
template <HasFields T>
const WantedOfKind& wanted_of() {
  static const WantedOfKind wanted = [] {
    std::vector<JsonPath> paths;
    std::apply([&](const auto&... field) { (paths.push_back(field.path), ...); }, kFields<T>);
    return wanted_at(kind_of<T>(), paths);
  }();
  return wanted;
}

base::Result<void> decode_document(const Kind& kind, std::string_view json, const ReadObject& read);
// Calls `read` once per item.
base::Result<PageHead> decode_list(const Kind& kind, const WantedOfKind& wanted,
                                   std::string_view json, const ReadObject& read);
// Calls `read` for an event that has an object of the kind.
base::Result<EventHead> decode_event(const Kind& kind, const WantedOfKind& wanted,
                                     std::string_view line, const ReadObject& read);
std::string encode_document(const Kind& kind, std::string_view version,
                            const std::function<void(Json&)>& write);

template <class T>
base::Result<T> decode(std::string_view json) {
  T object;
  const auto done = decode_document(kind_of<T>(), json, into(object));
  if (!done) return done.error();
  return object;
}

template <class T>
base::Result<Page<T>> decode_page(std::string_view json) {
  Page<T> page;
  const auto read_it = [&](Decoding& decoding, const Json& item, std::string_view version) {
    into(page.items.emplace_back())(decoding, item, version);
  };
  const auto head = decode_list(kind_of<T>(), wanted_of<T>(), json, read_it);
  if (!head) return head.error();
  page.resource_version = head->resource_version;
  page.continue_token = head->continue_token;
  return page;
}

template <class T>
base::Result<WatchEvent<T>> decode_watch_event(std::string_view line) {
  WatchEvent<T> event;
  const auto head = decode_event(kind_of<T>(), wanted_of<T>(), line, into(event.object));
  if (!head) return head.error();
  event.type = head->type;
  event.status = head->status;
  return event;
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
