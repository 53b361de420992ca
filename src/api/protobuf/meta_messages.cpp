#include <utility>

#include "api/protobuf/messages.h"

namespace cdom::api {

namespace {

void read_message(MessageReader in, OwnerReference& out) {
  read_plain(in, PlainField{1, out.kind}, PlainField{3, out.name}, PlainField{4, out.uid},
             PlainField{5, out.api_version}, PlainField{6, out.controller});
}

void read_label(MessageReader entry, Labels& out, IsRead is_read) {
  std::string key, value;
  while (entry.next()) {
    // A Node has dozens that nobody reads; the key comes first.
    if (entry.number() == 1 && is_read != nullptr && !is_read(entry.bytes())) return;
    if (entry.number() == 1) entry.read(key);
    if (entry.number() == 2) entry.read(value);
  }
  if (is_read != nullptr && !is_read(key)) return;
  // They come in the order of their keys.
  out.insert_or_assign(out.end(), std::move(key), std::move(value));
}

}  // namespace

void read_message(MessageReader in, std::optional<base::Time>& out) {
  std::optional<std::int64_t> seconds;
  while (in.next()) {
    if (in.number() == 1) in.read(seconds.emplace());
  }
  // The first second of year 1, which is Go's zero time, and the last one of 9999.
  constexpr std::int64_t kZero = -62'135'596'800, kLast = 253'402'300'799;
  out.reset();
  if (seconds && *seconds > kZero && *seconds <= kLast) out = base::time_of_seconds(*seconds);
}

void read_message(MessageReader in, ObjectMeta& out, IsRead is_read) {
  while (in.next()) {
    switch (in.number()) {
      case 1:
        in.read(out.name);
        break;
      case 3:
        in.read(out.ns);
        break;
      case 5:
        in.read(out.uid);
        break;
      case 6:
        in.read(out.resource_version);
        break;
      case 7:
        in.read(out.generation);
        break;
      case 8:
        read_message(in.message(), out.creation_time);
        break;
      case 9:
        read_message(in.message(), out.deletion_time);
        break;
      case 11:
        read_label(in.message(), out.labels, is_read);
        break;
      case 12:
        read_label(in.message(), out.annotations, nullptr);
        break;
      case 13:
        read_message(in.message(), out.owners.emplace_back());
        break;
      case 14:
        in.read(out.finalizers);
        break;
      default:
        break;
    }
  }
}

}  // namespace cdom::api
