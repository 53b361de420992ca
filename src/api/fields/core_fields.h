// The field tables of the built-in kinds.
#pragma once

#include "compute_domain/api/core.h"
#include "fields.h"
#include "meta_fields.h"

namespace cdom::api {

// The status of a condition that others write, as a ConditionStatus or as a bool (true for "True").
// The API server holds such a word against nothing: any other one is Unknown, so that one odd
// object does not make a whole list unreadable.
struct AsForeignStatus {
  static void read(Decoding& decoding, const JsonView& json, ConditionStatus& out);
  static void write(Json& json, ConditionStatus value);
  static void read(Decoding& decoding, const JsonView& json, bool& out);
  static void write(Json& json, bool value);
};

// Reads only the labels that this program uses.
struct AsLabelsOfNode {
  static void read(Decoding& decoding, const JsonView& json, Labels& out);
};

struct AsMetaOfNode {
  static Wanted wanted() { return wanted_fields<ObjectMeta>(); }
  static void read(Decoding& decoding, const JsonView& json, ObjectMeta& out);
  static void write(Json& json, const ObjectMeta& meta) { api::write(json, meta); }
};

template <>
inline constexpr auto kFields<Taint> =
    std::tuple{field("key", &Taint::key, Presence::Always), field("value", &Taint::value),
               field("effect", &Taint::effect)};

template <>
inline constexpr auto kFields<Node> =
    std::tuple{field<AsMetaOfNode>("metadata", &Node::meta, Presence::Always),
               field("spec.taints", &Node::taints),
               field("spec.unschedulable", &Node::unschedulable),
               field("status.nodeInfo.bootID", &Node::boot_id),
               field<AsForeignStatus>("status.conditions[type=Ready].status", &Node::ready),
               field("status.addresses[type=InternalIP].address", &Node::internal_ip)};

template <>
inline constexpr auto kFields<PodClaim> =
    std::tuple{field("name", &PodClaim::name, Presence::Always),
               field("resourceClaimTemplateName", &PodClaim::template_name)};

template <>
inline constexpr auto kFields<Pod> =
    std::tuple{field("metadata", &Pod::meta, Presence::Always),
               field("spec.resourceClaims", &Pod::claims),
               field("spec.nodeName", &Pod::node),
               field("status.phase", &Pod::phase),
               field("status.podIP", &Pod::ip),
               field<AsForeignStatus>("status.conditions[type=Ready].status", &Pod::ready),
               field("status.conditions[type=Ready].lastTransitionTime", &Pod::ready_changed)};

template <>
inline constexpr auto kFields<ConfigMap> = std::tuple{
    field("metadata", &ConfigMap::meta, Presence::Always), field("data", &ConfigMap::data)};

template <>
inline constexpr auto kFields<ObjectReference> =
    std::tuple{field("apiVersion", &ObjectReference::api_version),
               field("kind", &ObjectReference::kind), field("namespace", &ObjectReference::ns),
               field("name", &ObjectReference::name), field("uid", &ObjectReference::uid)};

// `component` stands twice: kubectl before 1.19 prints source.component only.
template <>
inline constexpr auto kFields<Event> =
    std::tuple{field("metadata", &Event::meta, Presence::Always),
               field("involvedObject", &Event::involved, Presence::Always),
               field("type", &Event::type, Presence::Always),
               field("reason", &Event::reason, Presence::Always),
               field("message", &Event::message, Presence::Always),
               field("source.component", &Event::component),
               field("source.host", &Event::host),
               field("reportingComponent", &Event::component),
               field("reportingInstance", &Event::instance),
               field("count", &Event::count, Presence::Always),
               field("firstTimestamp", &Event::first),
               field("lastTimestamp", &Event::last)};

template <>
inline constexpr auto kFields<Lease> =
    std::tuple{field("metadata", &Lease::meta, Presence::Always),
               field("spec.holderIdentity", &Lease::holder),
               field("spec.leaseDurationSeconds", &Lease::duration_seconds),
               field("spec.leaseTransitions", &Lease::transitions),
               field<AsMicroTime>("spec.acquireTime", &Lease::acquired),
               field<AsMicroTime>("spec.renewTime", &Lease::renewed)};

template <>
inline constexpr auto kFields<Job> =
    std::tuple{field("metadata", &Job::meta, Presence::Always),
               field("spec.parallelism", &Job::parallelism, Presence::Always),
               field("spec.completions", &Job::completions)};

template <>
inline constexpr auto kFields<DaemonSet> =
    std::tuple{field("metadata", &DaemonSet::meta, Presence::Always)};

template <>
inline constexpr auto kFields<Deployment> =
    std::tuple{field("metadata", &Deployment::meta, Presence::Always),
               field("status.readyReplicas", &Deployment::ready_replicas)};

}  // namespace cdom::api
