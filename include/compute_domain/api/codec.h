// The JSON codec: text to values and back, for every kind of the table.
//
// decode() takes objects of any version we speak and gives Invalid with the path of the field that
// has the wrong type; unknown fields are ignored. encode() writes what a create request needs, in
// the shapes of `version`; times in whole seconds (a Lease's in microseconds), as Kubernetes has
// them. Patches carry only fields that we own, with their precondition inside.
// No header here shows the JSON library.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/api/channel_config.h"
#include "compute_domain/api/dynamic_object.h"
#include "compute_domain/api/kind.h"
#include "compute_domain/base/result.h"

namespace cdom::api {

// metav1.Status: how an API server words a failure.
struct Status {
  int code = 0;
  std::string reason, message;
  std::optional<base::Duration> retry_after;
  std::string object = {};  // details.name: the one that it is about, "" where it is about none
};

// An object that the server has given and that cannot be decoded. What is known of it.
struct Unreadable {
  ObjectName name;
  std::string uid, resource_version;
  std::string problem;  // names the object and the field

  friend bool operator==(const Unreadable&, const Unreadable&) = default;
};

template <class T>
struct Page {
  std::vector<T> items;
  std::string resource_version;
  std::string continue_token;          // "" on the last page
  std::vector<Unreadable> unreadable;  // that are not among the items
};

enum class WatchType { Added, Modified, Deleted, Bookmark, Error, Unknown };

// What a watch event has beside its object.
struct WatchEventHead {
  WatchType type = WatchType::Unknown;
  Status status;                 // of Error
  std::string resource_version;  // of Bookmark
  // The object could not be read: only its name, UID and resource version are known.
  std::optional<Unreadable> unreadable;
};
template <class T>
struct WatchEvent : WatchEventHead {
  T object;  // of a bookmark only meta.resource_version counts
};

// All of these are instantiated for the kinds of kind.h, and for DynamicObject. Whatever one object
// is, as long as it is JSON, the others of its page are read, and a watch event has its type.
template <class T>
base::Result<T> decode(std::string_view json);
template <class T>
base::Result<Page<T>> decode_page(std::string_view json);
template <class T>
base::Result<WatchEvent<T>> decode_watch_event(std::string_view line);
// The same, with the object in `object`, which is a new one.
template <class T>
base::Result<WatchEventHead> decode_watch_event(std::string_view line, T& object);
template <class T>
std::string encode(const T& object, std::string_view version);

// In protobuf a page or an event of some of Kubernetes' own kinds costs a fraction. Who reads those
// asks for kProtobufOrJson, and gives what comes to the same functions: a page, and the message of
// an event. Invalid: something in it is not as this program knows it, and none of it was read; ask
// for JSON then.
inline constexpr std::string_view kProtobufOrJson =
    "application/vnd.kubernetes.protobuf, application/json";
// Whether objects of a T in this version of its group are read in protobuf.
template <class T>
bool reads_protobuf(std::string_view version);

// A PartialObjectMetadataList: what a list of any kind is when only metadata is asked for.
inline constexpr std::string_view kMetadataList =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
base::Result<Page<ObjectMeta>> decode_metadata_page(std::string_view json);

// A body that is not a Status (a proxy's page, plain text) gives one made from the HTTP code.
Status decode_status(int http_code, std::string_view body);
// The error that a caller acts upon: 404 NotFound, 409 by reason, 410 Expired, 422, 400 and what
// else cannot succeed when it is sent again (405, 406, 413, 415) Invalid, 403 and 401 Forbidden,
// the rest Unavailable.
base::Error error_of(const Status& status);

// The versions that an APIGroup answer (/apis/<group>) serves, the server's preferred one first.
base::Result<std::vector<std::string>> decode_group_versions(std::string_view json);

// One document of YAML or JSON, or several separated by "---", or a List: each object as JSON text.
// Invalid: file name, line and what is wrong.
base::Result<std::vector<std::string>> objects_in_yaml(std::string_view text,
                                                       std::string_view file_name);
// The one document of a YAML or JSON text, of whatever shape, as JSON text. Invalid: as above.
base::Result<std::string> json_in_yaml(std::string_view text, std::string_view file_name);
// "apiVersion" and "kind" of an object's JSON text.
struct TypeMeta {
  std::string api_version, kind;
};
base::Result<TypeMeta> type_meta_in(std::string_view json);

// Merge patches (RFC 7386). `uid` and `resource_version` are the preconditions; the server answers
// Conflict (resourceVersion) or Invalid (uid) when they do not hold.
struct Precondition {
  std::string uid;
  std::string resource_version;
};
std::string finalizers_patch(const Precondition& if_is, const std::vector<std::string>& finalizers);
// The labels and annotations that are named; nullopt takes one away.
using MetadataValues = std::map<std::string, std::optional<std::string>>;
std::string metadata_patch(const Precondition& if_is, const MetadataValues& labels,
                           const MetadataValues& annotations);
// Owners and finalizers, each as a whole.
std::string ownership_patch(const Precondition& if_is, const std::vector<OwnerReference>& owners,
                            const std::vector<std::string>& finalizers);
// The owners as a whole.
std::string owners_patch(const Precondition& if_is, const std::vector<OwnerReference>& owners);
std::string status_patch(const Precondition& if_is, const ComputeDomainStatus& status);
std::string status_patch(const Precondition& if_is, const ComputeDomainNodeReport& report);
// Sets only status.stale of a ComputeDomainNode, which is not part of the report.
std::string staleness_patch(const Precondition& if_is, const std::optional<Staleness>& stale);
// ConfigMap: our labels and the data as a whole; keys that are not ours are removed.
std::string config_map_patch(const Precondition& if_is, const ConfigMap& current,
                             const ConfigMap& desired);
std::string event_count_patch(std::int64_t count, base::Time last, std::string_view message);
// ComputeDomainClique: the labels that are named, and the daemons as a whole.
std::string clique_patch(const Precondition& if_is, const ComputeDomainClique& desired);
// ResourceSlice: spec as a whole.
std::string slice_patch(const Precondition& if_is, const ResourceSlice& desired,
                        std::string_view version);
// Lease: a full PUT body.
std::string encode_lease_update(const Lease& lease);

// How an object is deleted: what becomes of its dependents, and, of a pod, how many seconds its
// containers get (0: it goes by force; nullopt: as many as its spec says).
struct Deletion {
  enum class Propagation { Background, Foreground, Orphan };
  Propagation propagation = Propagation::Background;
  std::optional<std::int64_t> grace_period_seconds = std::nullopt;
};
// DeleteOptions with preconditions.
std::string delete_options(const Precondition& if_is, const Deletion& how = {});

}  // namespace cdom::api
