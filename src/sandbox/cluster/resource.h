// Resource: where the objects of one kind live in the API, and the table of those that the
// simulated cluster works with.
#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace cdom::sandbox {

struct ObjectKey {
  std::string ns;  // "" for cluster-scoped objects
  std::string name;

  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};
std::string to_string(const ObjectKey& key);

struct Resource {
  std::string_view group;  // "" for the core group
  std::string_view version;
  std::string_view plural;
  std::string_view kind;
  bool namespaced = true;

  // "v1", "batch/v1".
  [[nodiscard]] std::string api_version() const;
  // The path of all objects (ns ""), or of those of one namespace.
  [[nodiscard]] std::string collection(const std::string& ns = {}) const;
  [[nodiscard]] std::string path(const ObjectKey& key, std::string_view subresource = {}) const;
  // The same objects in another version, whose name has to outlive what this gives.
  [[nodiscard]] Resource in(std::string_view other_version) const;

  friend auto operator<=>(const Resource&, const Resource&) = default;
};

inline constexpr Resource kPods{"", "v1", "pods", "Pod"};
inline constexpr Resource kNodes{"", "v1", "nodes", "Node", false};
inline constexpr Resource kNamespaces{"", "v1", "namespaces", "Namespace", false};
inline constexpr Resource kServiceAccounts{"", "v1", "serviceaccounts", "ServiceAccount"};
inline constexpr Resource kConfigMaps{"", "v1", "configmaps", "ConfigMap"};
inline constexpr Resource kComputeDomains{"resource.nvidia.com", "v1beta1", "computedomains",
                                          "ComputeDomain"};
inline constexpr Resource kEvents{"", "v1", "events", "Event"};
inline constexpr Resource kLeases{"coordination.k8s.io", "v1", "leases", "Lease"};
inline constexpr Resource kJobs{"batch", "v1", "jobs", "Job"};
inline constexpr Resource kClaims{"resource.k8s.io", "v1", "resourceclaims", "ResourceClaim"};
inline constexpr Resource kTemplates{"resource.k8s.io", "v1", "resourceclaimtemplates",
                                     "ResourceClaimTemplate"};
inline constexpr Resource kSlices{"resource.k8s.io", "v1", "resourceslices", "ResourceSlice",
                                  false};
inline constexpr Resource kClasses{"resource.k8s.io", "v1", "deviceclasses", "DeviceClass", false};

}  // namespace cdom::sandbox
