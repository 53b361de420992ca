// The kinds that the simulated cluster works with, each in the one version that its control plane
// speaks.
#pragma once

#include <string_view>

#include "compute_domain/api/kind.h"

namespace cdom::sandbox {

inline const api::Kind kPods{"Pod", "pods", "", true, {"v1"}};
inline const api::Kind kNodes{"Node", "nodes", "", false, {"v1"}};
inline const api::Kind kNamespaces{"Namespace", "namespaces", "", false, {"v1"}};
inline const api::Kind kServiceAccounts{"ServiceAccount", "serviceaccounts", "", true, {"v1"}};
inline const api::Kind kConfigMaps{"ConfigMap", "configmaps", "", true, {"v1"}};
inline const api::Kind kEvents{"Event", "events", "", true, {"v1"}};
inline const api::Kind kLeases{"Lease", "leases", "coordination.k8s.io", true, {"v1"}};
inline const api::Kind kJobs{"Job", "jobs", "batch", true, {"v1"}};
inline const api::Kind kDaemonSets{"DaemonSet", "daemonsets", "apps", true, {"v1"}};
inline const api::Kind kClaims{"ResourceClaim", "resourceclaims", "resource.k8s.io", true, {"v1"}};
inline const api::Kind kTemplates{
    "ResourceClaimTemplate", "resourceclaimtemplates", "resource.k8s.io", true, {"v1"}};
inline const api::Kind kSlices{"ResourceSlice", "resourceslices", "resource.k8s.io", false, {"v1"}};
inline const api::Kind kClasses{"DeviceClass", "deviceclasses", "resource.k8s.io", false, {"v1"}};
inline const api::Kind kComputeDomains{
    "ComputeDomain", "computedomains", "resource.nvidia.com", true, {"v1beta1"}};
inline const api::Kind kComputeDomainCliques{
    "ComputeDomainClique", "computedomaincliques", "resource.nvidia.com", true, {"v1beta1"}};

// The same objects in another version, whose name has to outlive what this gives.
inline api::Kind in_version(api::Kind kind, std::string_view version) {
  kind.versions = {version};
  return kind;
}
// "v1", "batch/v1".
inline std::string api_version_of(const api::Kind& kind) {
  return api::api_version_of(kind, kind.versions.front());
}

}  // namespace cdom::sandbox
