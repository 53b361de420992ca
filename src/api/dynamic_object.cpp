#include "compute_domain/api/dynamic_object.h"

#include <nlohmann/json.hpp>

#include "api/fields/fields.h"
#include "api/fields/meta_fields.h"
#include "api/json/document.h"
#include "api/json/json_scanner.h"
#include "compute_domain/base/text.h"

namespace cdom::api {

namespace {

// An item of a list has no type of its own: that is said once, of the list.
TypeMeta type_of_items(const TypeMeta& of_list) {
  constexpr std::string_view kList = "List";
  if (!of_list.kind.ends_with(kList)) return {};
  return {of_list.api_version, of_list.kind.substr(0, of_list.kind.size() - kList.size())};
}

// `object` with the members of its type, where it lacks them.
std::string with_type(std::string_view object, bool is_empty, const TypeMeta& own,
                      const TypeMeta& type) {
  std::vector<std::string> members;
  const auto add = [&](std::string_view name, const std::string& known, const std::string& value) {
    if (!known.empty() || value.empty()) return;
    members.push_back(base::cat('"', name, "\":", text_of(Json(value))));
  };
  add("apiVersion", own.api_version, type.api_version);
  add("kind", own.kind, type.kind);
  std::string text(object);
  if (members.empty()) return text;
  const std::string_view separator = is_empty ? "" : ",";
  return text.insert(text.find('{') + 1, base::cat(base::join(members, ","), separator));
}

base::Error about(const TypeMeta& type, const ObjectMeta& meta, const base::Error& error) {
  const std::string name = to_string(name_of(meta));
  const std::string_view kind = type.kind.empty() ? std::string_view("object") : type.kind;
  return base::invalid(base::cat(kind, name.empty() ? "" : " ", name, ": ", error.message));
}

base::Result<DynamicObject> read_dynamic(std::string_view text, const TypeMeta& type) {
  static const Wanted wanted = wanted_fields<ObjectMeta>();
  const auto members = members_in(text);
  if (!members) return about(type, {}, members.error());
  DynamicObject object;
  TypeMeta own;
  Decoding decoding;
  decoding.enter("metadata");
  for (const JsonMember& member : *members) {
    if (member.name == "apiVersion" && member.value.starts_with('"')) {
      own.api_version = text_of_string(member.value);
    } else if (member.name == "kind" && member.value.starts_with('"')) {
      own.kind = text_of_string(member.value);
    } else if (member.name == "metadata") {
      const auto metadata = parse_json(member.value, wanted);
      if (!metadata) return about(type, {}, metadata.error());
      read(decoding, *metadata, object.meta);
    }
  }
  if (decoding.has_failed()) return about(type, object.meta, decoding.error());
  object.json = with_type(text, members->empty(), own, type);
  return object;
}

}  // namespace

base::Result<DynamicObject> dynamic_object(const Kind& kind, std::string_view json) {
  return read_dynamic(json, {api_version_of(kind, kind.versions.front()), std::string(kind.kind)});
}

template <>
base::Result<DynamicObject> decode<DynamicObject>(std::string_view json) {
  return read_dynamic(json, {});
}

// The protobuf messages of a kind that is not known here are not known either.
template <>
bool reads_protobuf<DynamicObject>(std::string_view /*version*/) {
  return false;
}

template <>
base::Result<Page<DynamicObject>> decode_page<DynamicObject>(std::string_view json) {
  std::vector<DynamicObject> items;
  auto head = decode_list(
      nullptr, json, [&](std::string_view text, const TypeMeta& of_list) -> base::Result<void> {
        auto object = read_dynamic(text, type_of_items(of_list));
        if (!object) return object.error();
        items.push_back(*std::move(object));
        return {};
      });
  return page_of(std::move(head), std::move(items));
}

template <>
base::Result<WatchEventHead> decode_watch_event<DynamicObject>(std::string_view line,
                                                               DynamicObject& object) {
  auto head = decode_event(nullptr, line,
                           [&](std::string_view text, const TypeMeta&) -> base::Result<void> {
                             auto read = read_dynamic(text, {});
                             if (!read) return read.error();
                             object = *std::move(read);
                             return {};
                           });
  complete(object, head);
  return head;
}

template <>
base::Result<WatchEvent<DynamicObject>> decode_watch_event<DynamicObject>(std::string_view line) {
  DynamicObject object;
  auto head = decode_watch_event<DynamicObject>(line, object);
  return event_of(std::move(head), std::move(object));
}

template <>
std::string encode<DynamicObject>(const DynamicObject& object, std::string_view /*version*/) {
  return object.json;
}

}  // namespace cdom::api
