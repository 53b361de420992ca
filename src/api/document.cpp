#include "document.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compute_domain/base/text.h"
#include "resource_versions.h"
#include "status_json.h"

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

void want(Wanted& wanted, const JsonPath& path) {
  Wanted* at = &wanted;
  for (const JsonStep& step : path) {
    at = &at->members[std::string(step.name)];
    if (step.is_selection()) at->members[std::string(step.key)].everything = true;
  }
  at->everything = true;
}

}  // namespace

WantedOfKind wanted_at(const Kind& kind, const std::vector<JsonPath>& paths) {
  const Wanted everything{.everything = true, .members = {}};
  Wanted head;
  for (const char* name : {"apiVersion", "kind", "metadata"}) head.members[name] = everything;
  Wanted object = head;
  for (const JsonPath& path : paths) want(object, path);
  if (kind.versions.size() > 1) object = everything;
  WantedOfKind wanted{.page = head, .event = {}};
  wanted.page.members["items"] = object;
  wanted.event.members = {{"type", everything}, {"object", object}};
  return wanted;
}

base::Result<void> decode_document(const Kind& kind, std::string_view json,
                                   const ReadObject& read) {
  auto document = parse_json(json);
  if (!document) return about(kind, Json(), document.error());
  return read_object(kind, *document, read);
}

base::Result<PageHead> decode_list(const Kind& kind, const WantedOfKind& wanted,
                                   std::string_view json, const ReadObject& read) {
  auto document = parse_json(json, wanted.page);
  if (!document) return about(kind, Json(), document.error());
  const TypeMeta of_list{text_member(*document, "apiVersion"), text_member(*document, "kind")};
  if (!of_list.kind.ends_with("List")) {
    return invalid(cat("kind: must be ", kind.kind, "List, is \"", of_list.kind, '"'));
  }

  // An empty list of Go may be null.
  const auto items = document->find("items");
  if (items != document->end() && !items->is_null()) {
    if (!items->is_array()) return invalid("items: must be a list");
    for (Json& item : *items) {
      if (const auto done = read_object(kind, item, read, of_list); !done) return done.error();
    }
  }
  return PageHead{text_in_metadata(*document, "resourceVersion"),
                  text_in_metadata(*document, "continue")};
}

base::Result<EventHead> decode_event(const Kind& kind, const WantedOfKind& wanted,
                                     std::string_view line, const ReadObject& read) {
  auto document = parse_json(line, wanted.event);
  // Its object is no object of this kind.
  if (document && text_member(*document, "type") == "ERROR") document = parse_json(line);
  if (!document) return about(kind, Json(), document.error());
  EventHead head{watch_type_of(text_member(*document, "type")), {}};
  if (head.type == WatchType::Unknown) return head;

  const auto object = document->find("object");
  if (object == document->end()) return invalid("object: is required in a watch event");
  if (head.type == WatchType::Error) {
    head.status = status_in(*object, 500);
    return head;
  }
  if (const auto done = read_object(kind, *object, read); !done) return done.error();
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

std::string resource_version_in(std::string_view json) {
  const auto document = parse_json(json);
  return document ? text_in_metadata(*document, "resourceVersion") : std::string{};
}

std::string uid_in(std::string_view json) {
  const auto document = parse_json(json);
  return document ? text_in_metadata(*document, "uid") : std::string{};
}

base::Result<TypeMeta> type_meta_in(std::string_view json) {
  const auto document = parse_json(json);
  if (!document) return document.error();
  TypeMeta meta{text_member(*document, "apiVersion"), text_member(*document, "kind")};
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
