#include "document.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/json/quick_reader.h"
#include "api/resource_versions.h"
#include "api/status_json.h"
#include "compute_domain/base/text.h"
#include "json_scanner.h"

namespace cdom::api {

namespace {

using base::cat;
using base::invalid;

// The text member `name` of `json`, or "".
std::string text_member(const Json& json, std::string_view name) {
  if (!json.is_object()) return {};
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

std::string text_in_metadata(const Json& json, std::string_view name) {
  const auto metadata = json.is_object() ? json.find("metadata") : json.end();
  return json.is_object() && metadata != json.end() ? text_member(*metadata, name) : std::string{};
}

bool is_api_version(std::string_view text, const Kind& kind, std::string_view version) {
  if (kind.group.empty()) return text == version;
  return text.size() == kind.group.size() + 1 + version.size() && text.starts_with(kind.group) &&
         text[kind.group.size()] == '/' && text.ends_with(version);
}

// The version that `api_version` names, when it is one of this kind that we speak.
base::Result<std::string_view> version_in(const Kind& kind, std::string_view api_version) {
  for (const std::string_view version : kind.versions) {
    if (is_api_version(api_version, kind, version)) return version;
  }
  return invalid(cat("apiVersion: must be ", api_version_of(kind, kind.versions.front()), " for a ",
                     kind.kind, ", is \"", api_version, '"'));
}

// The version of an object as the quick reader has it, if it needs no change and is of this kind;
// nullopt: it is to be read thoroughly, also to tell what is wrong.
std::optional<std::string_view> plain_version_of(const Kind& kind, const JsonView& object,
                                                 std::string_view of_list) {
  using Type = JsonView::Type;
  if (!object.is_object()) return std::nullopt;
  const auto text_of = [&](std::string_view name) {
    const auto member = object.member(name);
    return member && member->type() == Type::String ? member->string() : std::string_view{};
  };
  const std::string_view name = text_of("kind");
  std::string_view api_version = text_of("apiVersion");
  if (!name.empty() && name != kind.kind) return std::nullopt;
  if (api_version.empty()) api_version = of_list;
  if (api_version.empty()) return kind.versions.front();
  const auto version = version_in(kind, api_version);
  if (!version || has_older_shapes(kind, *version)) return std::nullopt;
  return *version;
}

// Brings an object to the shapes of the table and gives its version, if it says (or `of_list` says
// for it) that it is of this kind. One without apiVersion and kind is taken to be what is wanted.
base::Result<std::string_view> prepare(const Kind& kind, Json& object,
                                       const TypeMeta& of_list = {}) {
  const auto name = text_member(object, "kind");
  if (!name.empty() && name != kind.kind) {
    return invalid(cat("kind: must be ", kind.kind, ", is \"", name, '"'));
  }
  auto api_version = text_member(object, "apiVersion");
  if (api_version.empty()) api_version = of_list.api_version;
  if (api_version.empty()) return kind.versions.front();
  auto version = version_in(kind, api_version);
  if (version) to_v1_shapes(kind, *version, object);
  return version;
}

base::Error about(const Kind& kind, const Json& object, const base::Error& error) {
  const auto ns = text_in_metadata(object, "namespace");
  const auto name = to_string(ObjectName{ns, text_in_metadata(object, "name")});
  return invalid(cat(kind.kind, name.empty() ? "" : " ", name, ": ", error.message));
}

base::Result<void> read_object(const Kind& kind, Json& object, ReadObject read,
                               const TypeMeta& of_list = {}) {
  const auto version = prepare(kind, object, of_list);
  if (!version) return about(kind, object, version.error());
  Decoding decoding;
  read(decoding, object, *version);
  if (decoding.has_failed()) return about(kind, object, decoding.error());
  return {};
}

const Wanted& everything() {
  static const Wanted wanted{.everything = true};
  return wanted;
}

// What every object has, whatever else is wrong with it.
std::string text_at(std::string_view object, const char* in_metadata) {
  Wanted wanted;
  wanted.members["metadata"].members[in_metadata] = everything();
  const auto json = parse_json(object, wanted);
  return json ? text_in_metadata(*json, in_metadata) : std::string{};
}

Unreadable unreadable(std::string_view object, const base::Error& error) {
  return {.name = {text_at(object, "namespace"), text_at(object, "name")},
          .uid = text_at(object, "uid"),
          .resource_version = text_at(object, "resourceVersion"),
          .problem = error.message};
}

// The text of a member, or ""; the last one counts.
std::string_view text_of_member(const std::vector<JsonMember>& members, std::string_view name) {
  std::string_view text;
  for (const JsonMember& member : members) {
    if (member.name == name) text = member.value;
  }
  return text;
}

std::string string_member(const std::vector<JsonMember>& members, std::string_view name) {
  const std::string_view text = text_of_member(members, name);
  return text.starts_with('"') ? text_of_string(text) : std::string{};
}

// Whether that was all.
bool read_view(const Kind& kind, const JsonView& object, ReadObject read,
               std::string_view version_of_list = {}) {
  const auto version = plain_version_of(kind, object, version_of_list);
  if (!version) return false;
  Decoding decoding;
  read(decoding, object, *version);
  return !decoding.has_failed();
}

base::Result<void> read_text(const Kind& kind, const Wanted& wanted, std::string_view text,
                             ReadObject read, const TypeMeta& of_list = {}) {
  auto json = parse_json(text, wanted);
  if (!json) {
    const Json head{
        {"metadata", {{"namespace", text_at(text, "namespace")}, {"name", text_at(text, "name")}}}};
    return about(kind, head, json.error());
  }
  return read_object(kind, *json, read, of_list);
}

}  // namespace

WantedObject wanted_of_object(const Kind& kind, Wanted of_table) {
  for (const char* name : {"apiVersion", "kind"}) of_table.members[name].add(everything());
  // What names an object that is not as it should be.
  for (const char* name : {"name", "namespace"}) {
    of_table.members["metadata"].members[name].add(everything());
  }
  want_older_shapes(kind, of_table);
  Wanted of_event;
  of_event.members["type"] = everything();
  of_event.members["object"] = of_table;
  return {WantedDocument(std::move(of_table)), WantedIndex(of_event)};
}

base::Result<void> decode_document(const Kind& kind, const WantedObject& wanted,
                                   std::string_view json, ReadObject read, Reading reading) {
  if (reading == Reading::Quick) {
    if (const QuickReader::Lease quick = QuickReader::of_thread()) {
      const auto document = quick->read(json, wanted.object.index);
      if (document && read_view(kind, *document, read)) return {};
    }
  }
  return read_text(kind, wanted.object.all, json, read);
}

namespace {

// The type of a list of objects of the kind, or of whatever kind when it is null.
base::Result<TypeMeta> type_of_list(const Kind* kind, const std::vector<JsonMember>& list) {
  TypeMeta of_list{string_member(list, "apiVersion"), string_member(list, "kind")};
  if (!of_list.kind.ends_with("List")) {
    const std::string_view wanted = kind == nullptr ? "a " : kind->kind;
    return invalid(cat("kind: must be ", wanted, "List, is \"", of_list.kind, '"'));
  }
  return of_list;
}

PageHead head_of_list(const std::vector<JsonMember>& list) {
  PageHead head;
  if (const auto metadata = parse_json(text_of_member(list, "metadata"))) {
    head.resource_version = text_member(*metadata, "resourceVersion");
    head.continue_token = text_member(*metadata, "continue");
  }
  return head;
}

// The same as decode_list() for a list in which nothing is wrong except, perhaps, fields of an
// object; nullopt for any other list, and for one without items.
std::optional<PageHead> decode_list_quickly(const Kind& kind, const WantedObject& wanted,
                                            std::string_view json, ReadObject read) {
  const QuickReader::Lease quick = QuickReader::of_thread();
  if (!quick) return std::nullopt;
  const auto list = quick->cut(json);
  if (!list || !list->has_items) return std::nullopt;
  const auto of_list = type_of_list(&kind, list->members);
  if (!of_list || (!of_list->api_version.empty() && !version_in(kind, of_list->api_version))) {
    return std::nullopt;
  }
  PageHead head = head_of_list(list->members);
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const auto item = quick->item(i, wanted.object.index);
    if (item && read_view(kind, *item, read, of_list->api_version)) continue;
    const std::string_view text = list->items[i];
    const auto done = read_text(kind, wanted.object.all, text, read, *of_list);
    if (!done) head.unreadable.push_back(unreadable(text, done.error()));
  }
  return head;
}

// The same of an event of an object with which nothing is wrong.
std::optional<EventHead> decode_event_quickly(const Kind& kind, const WantedObject& wanted,
                                              std::string_view line, ReadObject read) {
  const QuickReader::Lease quick = QuickReader::of_thread();
  if (!quick) return std::nullopt;
  const auto event = quick->read(line, wanted.event);
  if (!event || !event->is_object()) return std::nullopt;
  const auto type = event->member("type");
  const auto object = event->member("object");
  if (!type || type->type() != JsonView::Type::String || !object) return std::nullopt;
  EventHead head;
  head.type = watch_type_of(type->string());
  const bool has_object = head.type == WatchType::Added || head.type == WatchType::Modified ||
                          head.type == WatchType::Deleted;
  if (!has_object || !read_view(kind, *object, read)) return std::nullopt;
  return head;
}

}  // namespace

base::Result<PageHead> decode_list(const Kind& kind, const WantedObject& wanted,
                                   std::string_view json, ReadObject read, Reading reading) {
  if (reading == Reading::Quick) {
    if (auto head = decode_list_quickly(kind, wanted, json, read)) return *std::move(head);
  }
  return decode_list(&kind, json, [&](std::string_view text, const TypeMeta& of_list) {
    return read_text(kind, wanted.object.all, text, read, of_list);
  });
}

base::Result<PageHead> decode_list(const Kind* kind, std::string_view json, ReadText read) {
  const auto list = members_in(json);
  if (!list) return kind == nullptr ? list.error() : about(*kind, Json(), list.error());
  const auto of_list = type_of_list(kind, *list);
  if (!of_list) return of_list.error();
  PageHead head = head_of_list(*list);
  // An empty list of Go may be null.
  const std::string_view items = text_of_member(*list, "items");
  if (items.empty() || items == "null") return head;
  const auto texts = elements_in(items);
  if (!texts) return invalid("items: must be a list");
  // In a list of a version that is not known here, all objects are unreadable: that is one error.
  if (kind != nullptr && !of_list->api_version.empty()) {
    if (const auto version = version_in(*kind, of_list->api_version); !version)
      return version.error();
  }
  for (const std::string_view text : *texts) {
    const auto done = read(text, *of_list);
    if (!done) head.unreadable.push_back(unreadable(text, done.error()));
  }
  return head;
}

base::Result<EventHead> decode_event(const Kind& kind, const WantedObject& wanted,
                                     std::string_view line, ReadObject read, Reading reading) {
  if (reading == Reading::Quick) {
    if (auto head = decode_event_quickly(kind, wanted, line, read)) return *std::move(head);
  }
  return decode_event(&kind, line, [&](std::string_view text, const TypeMeta&) {
    return read_text(kind, wanted.object.all, text, read);
  });
}

base::Result<EventHead> decode_event(const Kind* kind, std::string_view line, ReadText read) {
  const auto event = members_in(line);
  if (!event) return kind == nullptr ? event.error() : about(*kind, Json(), event.error());
  EventHead head;
  head.type = watch_type_of(string_member(*event, "type"));
  if (head.type == WatchType::Unknown) return head;

  const std::string_view object = text_of_member(*event, "object");
  if (object.empty()) return invalid("object: is required in a watch event");
  if (head.type == WatchType::Error) {
    const auto status = parse_json(object);
    head.status = status_in(status ? *status : Json::object(), 500);
  } else if (head.type == WatchType::Bookmark) {
    head.resource_version = text_at(object, "resourceVersion");
  } else if (const auto done = read(object, {}); !done) {
    head.unreadable = unreadable(object, done.error());
  }
  return head;
}

std::string encode_document(const Kind& kind, std::string_view version,
                            FunctionRef<void(Json&)> write) {
  Json json;
  write(json);
  json["apiVersion"] = api_version_of(kind, version);
  json["kind"] = kind.kind;
  from_v1_shapes(kind, version, json);
  return text_of(json);
}

base::Result<TypeMeta> type_meta_in(std::string_view json) {
  const auto members = members_in(json);
  if (!members) return members.error();
  TypeMeta meta{string_member(*members, "apiVersion"), string_member(*members, "kind")};
  if (meta.kind.empty()) return invalid("kind: is required");
  if (meta.api_version.empty()) return invalid("apiVersion: is required");
  return meta;
}

base::Result<std::vector<std::string>> decode_group_versions(std::string_view json) {
  const auto document = parse_json(json);
  if (!document) return invalid(base::cat(document.error().message, ": is this an API server?"));
  if (text_member(*document, "kind") != "APIGroup") {
    return invalid("kind: must be APIGroup: is this an API server?");
  }
  std::vector<std::string> versions;
  const auto add = [&](const Json& entry) {
    const auto version = text_member(entry, "version");
    if (!version.empty() && std::ranges::find(versions, version) == versions.end()) {
      versions.push_back(version);
    }
  };
  if (document->contains("preferredVersion")) add(document->at("preferredVersion"));
  if (document->contains("versions")) std::ranges::for_each(document->at("versions"), add);
  if (versions.empty()) return invalid("versions: the API group serves none");
  return versions;
}

}  // namespace cdom::api
