// The field tables of ObjectMeta and of what else every kind may carry.
#pragma once

#include "compute_domain/api/meta.h"
#include "fields.h"

namespace cdom::api {

template <>
inline constexpr auto kFields<OwnerReference> =
    std::tuple{field("apiVersion", &OwnerReference::api_version, Presence::Always),
               field("kind", &OwnerReference::kind, Presence::Always),
               field("name", &OwnerReference::name, Presence::Always),
               field("uid", &OwnerReference::uid, Presence::Always),
               field("controller", &OwnerReference::controller)};

template <>
inline constexpr auto kFields<ObjectMeta> =
    std::tuple{field("name", &ObjectMeta::name),
               field("namespace", &ObjectMeta::ns),
               field("uid", &ObjectMeta::uid),
               field("resourceVersion", &ObjectMeta::resource_version),
               field("generation", &ObjectMeta::generation),
               field("creationTimestamp", &ObjectMeta::creation_time),
               field("deletionTimestamp", &ObjectMeta::deletion_time),
               field("labels", &ObjectMeta::labels),
               field("annotations", &ObjectMeta::annotations),
               field("finalizers", &ObjectMeta::finalizers),
               field("ownerReferences", &ObjectMeta::owners)};

template <>
inline constexpr std::array kWords<ConditionStatus> = {
    Word<ConditionStatus>{ConditionStatus::True, "True"},
    Word<ConditionStatus>{ConditionStatus::False, "False"},
    Word<ConditionStatus>{ConditionStatus::Unknown, "Unknown"}};

template <>
inline constexpr auto kFields<Condition> =
    std::tuple{field("type", &Condition::type, Presence::Always),
               field("status", &Condition::status, Presence::Always),
               field("reason", &Condition::reason, Presence::Always),
               field("message", &Condition::message, Presence::Always),
               field("lastTransitionTime", &Condition::last_transition, Presence::Always),
               field("observedGeneration", &Condition::observed_generation)};

}  // namespace cdom::api
