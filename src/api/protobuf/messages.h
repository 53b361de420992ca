// Messages: what is read of Kubernetes' own kinds in protobuf. Their fields have the numbers of
// generated.proto in k8s.io/api (core/v1, resource/v1) and k8s.io/apimachinery (meta/v1), which
// never change.
//
// Each gives what the field tables give of the same object in JSON (core_fields.h,
// resource_fields.h); tests and libFuzzer compare them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/node_selector.h"
#include "api/protobuf/message_reader.h"
#include "compute_domain/api/core.h"
#include "compute_domain/api/resource.h"
#include "compute_domain/base/clock.h"

namespace cdom::api {

// Kinds of which messages are read, in their first version.
template <class T>
inline constexpr bool kIsInProtobuf = false;
template <>
inline constexpr bool kIsInProtobuf<Node> = true;
template <>
inline constexpr bool kIsInProtobuf<Pod> = true;
template <>
inline constexpr bool kIsInProtobuf<ConfigMap> = true;
template <>
inline constexpr bool kIsInProtobuf<ResourceClaim> = true;
template <>
inline constexpr bool kIsInProtobuf<ResourceClaimTemplate> = true;
template <>
inline constexpr bool kIsInProtobuf<ResourceSlice> = true;

void read_message(MessageReader in, Node& out);
void read_message(MessageReader in, Pod& out);
void read_message(MessageReader in, ConfigMap& out);
void read_message(MessageReader in, ResourceClaim& out);
void read_message(MessageReader in, ResourceClaimTemplate& out);
void read_message(MessageReader in, ResourceSlice& out);

// Labels for which `is_read` says no are passed over.
using IsRead = bool (*)(std::string_view label);
void read_message(MessageReader in, ObjectMeta& out, IsRead is_read = nullptr);
void read_message(MessageReader in, NodeSelector& out);
// nullopt: the zero time, which an API server writes as null.
void read_message(MessageReader in, std::optional<base::Time>& out);

// An entry of a map, which is a message with its key and its value.
void read_entry(MessageReader entry, std::string& key, auto&& read_value) {
  while (entry.next()) {
    if (entry.number() == 1) entry.read(key);
    if (entry.number() == 2) read_value(entry);
  }
}

}  // namespace cdom::api
