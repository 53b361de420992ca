#include "compute_domain/api/kind.h"

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"

namespace cdom::api {

namespace {

const std::vector<std::string_view> kResourceVersions = {"v1", "v1beta2", "v1beta1"};
constexpr std::string_view kResourceGroup = "resource.k8s.io";

// clang-format off
const Kind kComputeDomain        {"ComputeDomain",         "computedomains",         kGroup,                true,  {"v1beta1"}};
const Kind kComputeDomainClique  {"ComputeDomainClique",   "computedomaincliques",   kGroup,                true,  {"v1beta1"}};
const Kind kComputeDomainNode    {"ComputeDomainNode",     "computedomainnodes",     kGroup,                false, {"v1beta1"}};
const Kind kResourceClaim        {"ResourceClaim",         "resourceclaims",         kResourceGroup,        true,  kResourceVersions};
const Kind kResourceClaimTemplate{"ResourceClaimTemplate", "resourceclaimtemplates", kResourceGroup,        true,  kResourceVersions};
const Kind kResourceSlice        {"ResourceSlice",         "resourceslices",         kResourceGroup,        false, kResourceVersions};
const Kind kDeviceClass          {"DeviceClass",           "deviceclasses",          kResourceGroup,        false, kResourceVersions};
const Kind kNode                 {"Node",                  "nodes",                  "",                    false, {"v1"}};
const Kind kPod                  {"Pod",                   "pods",                   "",                    true,  {"v1"}};
const Kind kConfigMap            {"ConfigMap",             "configmaps",             "",                    true,  {"v1"}};
const Kind kEvent                {"Event",                 "events",                 "",                    true,  {"v1"}};
const Kind kLease                {"Lease",                 "leases",                 "coordination.k8s.io", true,  {"v1"}};
const Kind kJob                  {"Job",                   "jobs",                   "batch",               true,  {"v1"}};
const Kind kDaemonSet            {"DaemonSet",             "daemonsets",             "apps",                true,  {"v1"}};
const Kind kDeployment           {"Deployment",            "deployments",            "apps",                true,  {"v1"}};
// clang-format on

// A name as one segment of a path. What others write into an owner reference is held against no
// rule of names: a slash in it must not lead to another object.
std::string path_segment(std::string_view name) {
  constexpr char kHex[] = "0123456789ABCDEF";
  constexpr std::string_view kPlain = "-._~!$&'()*+,;=:@";
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_alnum =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_alnum || kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += base::cat('%', kHex[byte / 16], kHex[byte % 16]);
    }
  }
  return out;
}

}  // namespace

// clang-format off
template <> const Kind& kind_of<ComputeDomain>() { return kComputeDomain; }
template <> const Kind& kind_of<ComputeDomainClique>() { return kComputeDomainClique; }
template <> const Kind& kind_of<ComputeDomainNode>() { return kComputeDomainNode; }
template <> const Kind& kind_of<ResourceClaim>() { return kResourceClaim; }
template <> const Kind& kind_of<ResourceClaimTemplate>() { return kResourceClaimTemplate; }
template <> const Kind& kind_of<ResourceSlice>() { return kResourceSlice; }
template <> const Kind& kind_of<DeviceClass>() { return kDeviceClass; }
template <> const Kind& kind_of<Node>() { return kNode; }
template <> const Kind& kind_of<Pod>() { return kPod; }
template <> const Kind& kind_of<ConfigMap>() { return kConfigMap; }
template <> const Kind& kind_of<Event>() { return kEvent; }
template <> const Kind& kind_of<Lease>() { return kLease; }
template <> const Kind& kind_of<Job>() { return kJob; }
template <> const Kind& kind_of<DaemonSet>() { return kDaemonSet; }
template <> const Kind& kind_of<Deployment>() { return kDeployment; }
// clang-format on

const std::vector<const Kind*>& all_kinds() {
  static const std::vector<const Kind*> kinds = {&kComputeDomainClique,
                                                 &kComputeDomainNode,
                                                 &kComputeDomain,
                                                 &kConfigMap,
                                                 &kDaemonSet,
                                                 &kDeployment,
                                                 &kDeviceClass,
                                                 &kEvent,
                                                 &kJob,
                                                 &kLease,
                                                 &kNode,
                                                 &kPod,
                                                 &kResourceClaim,
                                                 &kResourceClaimTemplate,
                                                 &kResourceSlice};
  return kinds;
}

std::string api_version_of(const Kind& kind, std::string_view version) {
  return kind.group.empty() ? std::string(version) : base::cat(kind.group, '/', version);
}

std::string api_version_of(const ResourceClaim& claim) {
  return api_version_of(kind_of<ResourceClaim>(), claim.version);
}

std::string path_of(const Kind& kind, std::string_view version, std::string_view ns,
                    std::string_view name, std::string_view subresource) {
  std::string path =
      base::cat(kind.group.empty() ? "/api/" : "/apis/", api_version_of(kind, version));
  if (kind.namespaced && !ns.empty()) path += base::cat("/namespaces/", path_segment(ns));
  path += base::cat('/', kind.plural);
  if (!name.empty()) path += base::cat('/', path_segment(name));
  if (!subresource.empty()) path += base::cat('/', subresource);
  return path;
}

}  // namespace cdom::api
