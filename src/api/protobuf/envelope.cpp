#include "api/protobuf/envelope.h"

#include <string>
#include <utility>

#include "api/protobuf/messages.h"
#include "compute_domain/base/text.h"

namespace cdom::api {

namespace {

using base::cat;

constexpr std::string_view kMagic{"k8s\0", 4};

struct Enveloped {
  std::string_view api_version, kind;
  std::string_view object;
  std::string_view encoding;  // "": the object is as it is

  [[nodiscard]] bool is_plain(std::string_view of_kind) const {
    return encoding.empty() && kind == of_kind;
  }
  // Of a kind's first version: "v1", or "group/v1".
  [[nodiscard]] bool has_version_of(const Kind& of) const {
    const std::size_t prefix = of.group.empty() ? 0 : of.group.size() + 1;
    return api_version.size() >= prefix && api_version.substr(prefix) == of.versions.front() &&
           (prefix == 0 || (api_version.starts_with(of.group) && api_version[prefix - 1] == '/'));
  }
};

Enveloped opened(std::string_view text, bool& is_broken) {
  Enveloped out;
  is_broken = is_broken || !is_enveloped(text);
  MessageReader in(is_broken ? std::string_view() : text.substr(kMagic.size()), is_broken);
  while (in.next()) {
    if (in.number() == 1) {
      read_plain(in.message(), PlainField{1, out.api_version}, PlainField{2, out.kind});
    } else if (in.number() == 2) {
      out.object = in.bytes();
    } else if (in.number() == 3) {
      in.read(out.encoding);
    }
  }
  return out;
}

void read_list_meta(MessageReader in, PageHead& out) {
  read_plain(in, PlainField{2, out.resource_version}, PlainField{3, out.continue_token});
}

// The resource version of an object of whatever kind: metadata is field 1 of all.
std::string version_of_object(std::string_view object, bool& is_broken) {
  ObjectMeta meta;
  MessageReader in(object, is_broken);
  while (in.next()) {
    if (in.number() == 1) read_message(in.message(), meta);
  }
  return meta.resource_version;
}

void read_status(MessageReader in, StatusFields& out) {
  while (in.next()) {
    if (in.number() == 3) in.read(out.message);
    if (in.number() == 4) in.read(out.reason);
    if (in.number() == 6) in.read(out.code);
    if (in.number() == 5) {
      read_plain(in.message(), PlainField{1, out.object}, PlainField{5, out.retry_after_seconds});
    }
  }
}

base::Error unexpected(const Kind& kind, std::string_view what) {
  return base::invalid(
      cat(what, " of ", kind.plural, " in protobuf is not as this program knows it"));
}

}  // namespace

bool is_enveloped(std::string_view text) { return text.starts_with(kMagic); }

bool is_event_message(std::string_view text) {
  // The tag of its type, or of its object where that is left out.
  constexpr char kType = 0x0A, kObject = 0x12;
  return text.starts_with(kType) || text.starts_with(kObject);
}

base::Result<PageHead> read_enveloped_list(const Kind& kind, std::string_view text,
                                           ReadMessage read) {
  bool is_broken = false;
  const Enveloped list = opened(text, is_broken);
  if (!list.has_version_of(kind) || !list.is_plain(cat(kind.kind, "List"))) {
    return unexpected(kind, "a list");
  }
  PageHead head;
  MessageReader in(list.object, is_broken);
  while (in.next()) {
    if (in.number() == 1) read_list_meta(in.message(), head);
    if (in.number() == 2) read(in.message());
  }
  if (is_broken) return unexpected(kind, "a list");
  return head;
}

base::Result<EventHead> read_event_message(const Kind& kind, std::string_view text,
                                           ReadMessage read) {
  bool is_broken = false;
  EventHead head;
  std::string_view raw;
  MessageReader in(text, is_broken);
  while (in.next()) {
    if (in.number() == 1) {
      head.type = watch_type_of(in.bytes());
    } else if (in.number() == 2) {
      MessageReader extension = in.message();
      while (extension.next()) {
        if (extension.number() == 1) raw = extension.bytes();
      }
    }
  }
  if (is_broken) return unexpected(kind, "an event");
  if (head.type == WatchType::Unknown) return head;
  if (head.type == WatchType::Error) {
    head.status = status_of(status_in_envelope(raw).value_or(StatusFields{}), 500);
    return head;
  }
  const Enveloped object = opened(raw, is_broken);
  if (!object.has_version_of(kind) || !object.is_plain(kind.kind)) {
    return unexpected(kind, "an event");
  }
  if (head.type == WatchType::Bookmark) {
    head.resource_version = version_of_object(object.object, is_broken);
  } else {
    read(MessageReader(object.object, is_broken));
  }
  if (is_broken) return unexpected(kind, "an event");
  return head;
}

std::optional<StatusFields> status_in_envelope(std::string_view text) {
  bool is_broken = false;
  const Enveloped status = opened(text, is_broken);
  if (!status.is_plain("Status") || status.api_version != "v1") return std::nullopt;
  StatusFields fields;
  read_status(MessageReader(status.object, is_broken), fields);
  return fields;
}

WatchType watch_type_of(std::string_view word) {
  if (word == "ADDED") return WatchType::Added;
  if (word == "MODIFIED") return WatchType::Modified;
  if (word == "DELETED") return WatchType::Deleted;
  if (word == "BOOKMARK") return WatchType::Bookmark;
  if (word == "ERROR") return WatchType::Error;
  return WatchType::Unknown;
}

}  // namespace cdom::api
