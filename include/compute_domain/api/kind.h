// Kind: what a type is called and where the API server serves it. One table, in kind.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/api/compute_domain.h"
#include "compute_domain/api/compute_domain_node.h"
#include "compute_domain/api/core.h"
#include "compute_domain/api/resource.h"

namespace cdom::api {

struct Kind {
  std::string_view kind;    // "ResourceClaim"
  std::string_view plural;  // "resourceclaims"
  std::string_view group;   // "" for the core group
  bool namespaced = true;
  std::vector<std::string_view> versions;  // that we speak, the preferred one first
};

template <class T>
const Kind& kind_of();
template <>
const Kind& kind_of<ComputeDomain>();
template <>
const Kind& kind_of<ComputeDomainClique>();
template <>
const Kind& kind_of<ComputeDomainNode>();
template <>
const Kind& kind_of<ResourceClaim>();
template <>
const Kind& kind_of<ResourceClaimTemplate>();
template <>
const Kind& kind_of<ResourceSlice>();
template <>
const Kind& kind_of<DeviceClass>();
template <>
const Kind& kind_of<Node>();
template <>
const Kind& kind_of<Pod>();
template <>
const Kind& kind_of<ConfigMap>();
template <>
const Kind& kind_of<Event>();
template <>
const Kind& kind_of<Lease>();
template <>
const Kind& kind_of<Job>();
template <>
const Kind& kind_of<DaemonSet>();
template <>
const Kind& kind_of<Deployment>();

// Every kind of the table, in the order of their plurals.
const std::vector<const Kind*>& all_kinds();

// "resource.k8s.io/v1", or "v1" for the core group.
std::string api_version_of(const Kind& kind, std::string_view version);
std::string api_version_of(const ResourceClaim& claim);

// "/apis/resource.k8s.io/v1/namespaces/team-a/resourceclaims/a/status"; without a namespace the
// collection of all namespaces, without a name a collection.
std::string path_of(const Kind& kind, std::string_view version, std::string_view ns = {},
                    std::string_view name = {}, std::string_view subresource = {});

}  // namespace cdom::api
