#include <nlohmann/json.hpp>

#include "api/domain/compute_domain_fields.h"
#include "api/fields/core_fields.h"
#include "api/fields/resource_fields.h"
#include "api/json/document.h"
#include "compute_domain/api/codec.h"
#include "compute_domain/base/clock.h"
#include "resource_versions.h"

namespace cdom::api {

namespace {

Json patch_with(const Precondition& if_is) {
  Json patch = Json::object();
  if (!if_is.uid.empty()) patch["metadata"]["uid"] = if_is.uid;
  if (!if_is.resource_version.empty()) {
    patch["metadata"]["resourceVersion"] = if_is.resource_version;
  }
  return patch;
}

// Every field of the table, null where it has its default, and so on in the objects in it: in a
// merge patch what is left out would stay as it was.
template <HasFields T>
Json owned_fields(const T& value) {
  Json json = Json::object();
  std::apply([&](const auto&... field) { ((place_at(json, field.path) = nullptr), ...); },
             kFields<T>);
  write_fields(json, value);
  const auto own_object = [&]<class Shape, class Member>(const Field<Shape, T, Member>& field) {
    if constexpr (std::is_same_v<Shape, AsIs> && HasFields<Member>) {
      Json& object = place_at(json, field.path);
      if (!object.is_null()) object = owned_fields(value.*field.member);
    }
  };
  std::apply([&](const auto&... field) { (own_object(field), ...); }, kFields<T>);
  return json;
}

std::string_view policy_name(Deletion::Propagation propagation) {
  switch (propagation) {
    case Deletion::Propagation::Background:
      return "Background";
    case Deletion::Propagation::Foreground:
      return "Foreground";
    case Deletion::Propagation::Orphan:
      return "Orphan";
  }
  return "";
}

}  // namespace

std::string finalizers_patch(const Precondition& if_is,
                             const std::vector<std::string>& finalizers) {
  Json patch = patch_with(if_is);
  patch["metadata"]["finalizers"] = finalizers;
  return text_of(patch);
}

std::string owners_patch(const Precondition& if_is, const std::vector<OwnerReference>& owners) {
  Json patch = patch_with(if_is);
  write(patch["metadata"]["ownerReferences"], owners);
  return text_of(patch);
}

std::string ownership_patch(const Precondition& if_is, const std::vector<OwnerReference>& owners,
                            const std::vector<std::string>& finalizers) {
  Json patch = patch_with(if_is);
  write(patch["metadata"]["ownerReferences"], owners);
  patch["metadata"]["finalizers"] = finalizers;
  return text_of(patch);
}

std::string metadata_patch(const Precondition& if_is, const MetadataValues& labels,
                           const MetadataValues& annotations) {
  Json patch = patch_with(if_is);
  for (const auto& [name, values] : {std::pair("labels", &labels), {"annotations", &annotations}}) {
    for (const auto& [key, value] : *values) {
      patch["metadata"][name][key] = value ? Json(*value) : Json(nullptr);
    }
  }
  return text_of(patch);
}

std::string status_patch(const Precondition& if_is, const ComputeDomainStatus& status) {
  Json patch = patch_with(if_is);
  patch["status"] = owned_fields(status);
  return text_of(patch);
}

std::string status_patch(const Precondition& if_is, const ComputeDomainNodeReport& report) {
  Json patch = patch_with(if_is);
  patch["status"] = owned_fields(report);
  return text_of(patch);
}

std::string staleness_patch(const Precondition& if_is, const std::optional<Staleness>& stale) {
  Json patch = patch_with(if_is);
  patch["status"]["stale"] = stale ? owned_fields(*stale) : Json(nullptr);
  return text_of(patch);
}

std::string config_map_patch(const Precondition& if_is, const ConfigMap& current,
                             const ConfigMap& desired) {
  Json patch = patch_with(if_is);
  for (const auto& [key, value] : desired.meta.labels) patch["metadata"]["labels"][key] = value;
  Json& data = patch["data"] = Json::object();
  for (const auto& [key, value] : current.data) data[key] = nullptr;
  for (const auto& [key, value] : desired.data) data[key] = value;
  return text_of(patch);
}

std::string event_count_patch(std::int64_t count, base::Time last, std::string_view message) {
  return text_of(
      Json{{"count", count}, {"lastTimestamp", base::to_rfc3339(last)}, {"message", message}});
}

std::string clique_patch(const Precondition& if_is, const ComputeDomainClique& desired) {
  Json clique;
  write(clique, desired);
  Json patch = patch_with(if_is);
  for (const auto& [key, value] : desired.meta.labels) patch["metadata"]["labels"][key] = value;
  if (!desired.meta.owners.empty()) {
    write(patch["metadata"]["ownerReferences"], desired.meta.owners);
  }
  patch["daemons"] = clique.contains("daemons") ? std::move(clique["daemons"]) : Json::array();
  return text_of(patch);
}

std::string slice_patch(const Precondition& if_is, const ResourceSlice& desired,
                        std::string_view version) {
  Json slice;
  write(slice, desired);
  from_v1_shapes(kind_of<ResourceSlice>(), version, slice);
  Json patch = patch_with(if_is);
  patch["spec"] = std::move(slice["spec"]);
  return text_of(patch);
}

std::string encode_lease_update(const Lease& lease) {
  return encode(lease, kind_of<Lease>().versions.front());
}

std::string delete_options(const Precondition& if_is, const Deletion& how) {
  Json options = {{"apiVersion", "v1"},
                  {"kind", "DeleteOptions"},
                  {"propagationPolicy", policy_name(how.propagation)}};
  if (how.grace_period_seconds) options["gracePeriodSeconds"] = *how.grace_period_seconds;
  if (!if_is.uid.empty()) options["preconditions"]["uid"] = if_is.uid;
  if (!if_is.resource_version.empty()) {
    options["preconditions"]["resourceVersion"] = if_is.resource_version;
  }
  return text_of(options);
}

}  // namespace cdom::api
