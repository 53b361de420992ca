#include "compute_domain/controller/stores.h"

#include "compute_domain/api/names.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_lists.h"

namespace cdom::controller {

namespace {

std::vector<std::string> one_of(std::string value) {
  if (value.empty()) return {};
  return {std::move(value)};
}

template <class T>
std::vector<std::string> domain_label(const T& object) {
  return one_of(object.meta.label(api::kDomainLabel));
}

}  // namespace

template <>
kube::Store<api::ComputeDomain>::Indexes indexes_of<api::ComputeDomain>() {
  return {{kByUid, [](const api::ComputeDomain& domain) { return one_of(domain.meta.uid); }},
          {kByTemplate, [](const api::ComputeDomain& domain) {
             if (!domain.spec.channel) return std::vector<std::string>{};
             return one_of(api::to_string(
                 api::ObjectName{domain.meta.ns, domain.spec.channel->template_name}));
           }}};
}

template <>
kube::Store<api::ResourceClaim>::Indexes indexes_of<api::ResourceClaim>() {
  return {
      {kByDomain,
       [](const api::ResourceClaim& claim) { return one_of(core::domain_of(claim).value_or("")); }},
      {kByNode, [](const api::ResourceClaim& claim) { return core::nodes_of(claim); }}};
}

template <>
kube::Store<api::ResourceClaimTemplate>::Indexes indexes_of<api::ResourceClaimTemplate>() {
  return {{kByDomain, domain_label<api::ResourceClaimTemplate>}};
}

template <>
kube::Store<api::ConfigMap>::Indexes indexes_of<api::ConfigMap>() {
  return {{kByDomain, domain_label<api::ConfigMap>},
          {kByNode, [](const api::ConfigMap& map) {
             std::vector<std::string> nodes;
             const auto stored = core::stored_list(map);
             if (!stored.list) return nodes;
             for (const auto& entry : stored.list->entries) {
               nodes.push_back(entry.node);
             }
             return nodes;
           }}};
}

template <>
kube::Store<api::ComputeDomainNode>::Indexes indexes_of<api::ComputeDomainNode>() {
  return {};
}

template <>
kube::Store<api::Node>::Indexes indexes_of<api::Node>() {
  return {};
}

template <>
kube::Store<api::ResourceSlice>::Indexes indexes_of<api::ResourceSlice>() {
  return {{kByNode, [](const api::ResourceSlice& slice) { return one_of(slice.node); }}};
}

template <>
kube::Store<api::Pod>::Indexes indexes_of<api::Pod>() {
  return {{kByNode, [](const api::Pod& pod) { return one_of(pod.node); }}};
}

}  // namespace cdom::controller
