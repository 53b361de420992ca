#include "document.h"

#include <algorithm>
#include <nlohmann/json.hpp>

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

// The version that `api_version` names, when it is one of this kind that we speak.
base::Result<std::string_view> version_in(const Kind& kind, std::string_view api_version) {
  for (const std::string_view version : kind.versions) {
    if (api_version == api_version_of(kind, version)) return version;
  }
  return invalid(cat("apiVersion: must be ", api_version_of(kind, kind.versions.front()), " for a ",
                     kind.kind, ", is \"", api_version, '"'));
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

WatchType watch_type_of(std::string_view word) {
  if (word == "ADDED") return WatchType::Added;
  if (word == "MODIFIED") return WatchType::Modified;
  if (word == "DELETED") return WatchType::Deleted;
  if (word == "BOOKMARK") return WatchType::Bookmark;
  if (word == "ERROR") return WatchType::Error;
  return WatchType::Unknown;
}

base::Error about(const Kind& kind, const Json& object, const base::Error& error) {
  const auto ns = text_in_metadata(object, "namespace");
  const auto name = to_string(ObjectName{ns, text_in_metadata(object, "name")});
  return invalid(cat(kind.kind, name.empty() ? "" : " ", name, ": ", error.message));
}

base::Result<void> read_object(const Kind& kind, Json& object, const ReadObject& read,
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

base::Result<void> read_text(const Kind& kind, const Wanted& wanted, std::string_view text,
                             const ReadObject& read, const TypeMeta& of_list = {}) {
  auto json = parse_json(text, wanted);
  if (!json) {
    const Json head{
        {"metadata", {{"namespace", text_at(text, "namespace")}, {"name", text_at(text, "name")}}}};
    return about(kind, head, json.error());
  }
  return read_object(kind, *json, read, of_list);
}

}  // namespace

Wanted wanted_of_object(const Kind& kind, Wanted of_table) {
  for (const char* name : {"apiVersion", "kind"}) of_table.members[name].add(everything());
  // By which an object is named that is not as it should be.
  for (const char* name : {"name", "namespace"}) {
    of_table.members["metadata"].members[name].add(everything());
  }
  want_older_shapes(kind, of_table);
  return of_table;
}

base::Result<void> decode_document(const Kind& kind, const Wanted& wanted, std::string_view json,
                                   const ReadObject& read) {
  return read_text(kind, wanted, json, read);
}

base::Result<PageHead> decode_list(const Kind& kind, const Wanted& wanted, std::string_view json,
                                   const ReadObject& read) {
  return decode_list(&kind, json, [&](std::string_view text, const TypeMeta& of_list) {
    return read_text(kind, wanted, text, read, of_list);
  });
}

base::Result<PageHead> decode_list(const Kind* kind, std::string_view json, const ReadText& read) {
  const auto list = members_in(json);
  if (!list) return kind == nullptr ? list.error() : about(*kind, Json(), list.error());
  const TypeMeta of_list{string_member(*list, "apiVersion"), string_member(*list, "kind")};
  if (!of_list.kind.ends_with("List")) {
    const std::string_view wanted = kind == nullptr ? "a " : kind->kind;
    return invalid(cat("kind: must be ", wanted, "List, is \"", of_list.kind, '"'));
  }
  PageHead head;
  if (const auto metadata = parse_json(text_of_member(*list, "metadata"))) {
    head.resource_version = text_member(*metadata, "resourceVersion");
    head.continue_token = text_member(*metadata, "continue");
  }
  // An empty list of Go may be null.
  const std::string_view items = text_of_member(*list, "items");
  if (items.empty() || items == "null") return head;
  const auto texts = elements_in(items);
  if (!texts) return invalid("items: must be a list");
  // Of a version that nobody here reads all are, not one.
  if (kind != nullptr && !of_list.api_version.empty()) {
    if (const auto version = version_in(*kind, of_list.api_version); !version)
      return version.error();
  }
  for (const std::string_view text : *texts) {
    const auto done = read(text, of_list);
    if (!done) head.unreadable.push_back(unreadable(text, done.error()));
  }
  return head;
}

base::Result<EventHead> decode_event(const Kind& kind, const Wanted& wanted, std::string_view line,
                                     const ReadObject& read) {
  return decode_event(&kind, line, [&](std::string_view text, const TypeMeta&) {
    return read_text(kind, wanted, text, read);
  });
}

base::Result<EventHead> decode_event(const Kind* kind, std::string_view line,
                                     const ReadText& read) {
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
                            const std::function<void(Json&)>& write) {
  Json json;
  write(json);
  json["apiVersion"] = api_version_of(kind, version);
  json["kind"] = kind.kind;
  from_v1_shapes(kind, version, json);
  return text_of(json);
}

std::string resource_version_in(std::string_view json) { return text_at(json, "resourceVersion"); }

std::string uid_in(std::string_view json) { return text_at(json, "uid"); }

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
  if (!document) return document.error();
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
