// The fields of the objects that can be packed, in the order in which they are.
//
// fields_of(each, object) gives them to `each`, which writes or reads them. The bindings name all
// fields of a struct, so that one which gets a new field does not compile before it is here.
#pragma once

#include <concepts>
#include <type_traits>

#include "compute_domain/api/compute_domain.h"
#include "compute_domain/api/compute_domain_node.h"
#include "compute_domain/api/core.h"
#include "compute_domain/api/node_list.h"
#include "compute_domain/api/resource.h"

namespace cdom::api::packed {

// A T, or a const one.
template <class Object, class T>
concept Of = std::same_as<std::remove_const_t<Object>, T>;

void fields_of(auto& each, Of<OwnerReference> auto& owner) {
  auto& [api_version, kind, name, uid, controller] = owner;
  each(api_version, kind, name, uid, controller);
}

// First what name_in() reads.
void fields_of(auto& each, Of<ObjectMeta> auto& meta) {
  auto& [name, ns, uid, resource_version, generation, creation_time, deletion_time, labels,
         annotations, finalizers, owners] = meta;
  each.name(ns);
  each.name(name);
  each.version(resource_version);
  each(uid, generation, creation_time, deletion_time, labels, annotations, finalizers, owners);
}

void fields_of(auto& each, Of<Condition> auto& condition) {
  auto& [type, status, reason, message, last_transition, observed_generation, text] = condition;
  each(type, status, reason, message, last_transition, observed_generation, text);
}

void fields_of(auto& each, Of<Taint> auto& taint) {
  auto& [key, value, effect] = taint;
  each(key, value, effect);
}

void fields_of(auto& each, Of<Node> auto& node) {
  auto& [meta, boot_id, taints, unschedulable, ready, internal_ip] = node;
  each(meta, boot_id, taints, unschedulable, ready, internal_ip);
}

void fields_of(auto& each, Of<PodClaim> auto& claim) {
  auto& [name, template_name] = claim;
  each(name, template_name);
}

void fields_of(auto& each, Of<Pod> auto& pod) {
  auto& [meta, claims, node, phase, ip, ready, ready_changed] = pod;
  each(meta, claims, node, phase, ip, ready, ready_changed);
}

void fields_of(auto& each, Of<DeviceRequest> auto& request) {
  auto& [name, device_class, selectors, admin_access] = request;
  each(name, device_class, selectors, admin_access);
}

void fields_of(auto& each, Of<OpaqueConfig> auto& config) {
  auto& [requests, driver, parameters, from_class] = config;
  each(requests, driver, parameters, from_class);
}

void fields_of(auto& each, Of<ResourceClaimSpec> auto& spec) {
  auto& [requests, configs] = spec;
  each(requests, configs);
}

void fields_of(auto& each, Of<AllocatedDevice> auto& device) {
  auto& [request, driver, pool, name, admin_access] = device;
  each(request, driver, pool, name, admin_access);
}

void fields_of(auto& each, Of<Allocation> auto& allocation) {
  auto& [devices, configs, node] = allocation;
  each(devices, configs, node);
}

void fields_of(auto& each, Of<ClaimConsumer> auto& consumer) {
  auto& [resource, name, uid, node, created] = consumer;
  each(resource, name, uid, node, created);
}

void fields_of(auto& each, Of<DomainRef> auto& ref) {
  auto& [kind, uid] = ref;
  each(kind, uid);
}

void fields_of(auto& each, Of<ResourceClaim> auto& claim) {
  auto& [meta, spec, allocation, reserved_for, domain_ref, version] = claim;
  each(meta, spec, allocation, reserved_for, domain_ref);
  each.claim_version(version);
}

void fields_of(auto& each, Of<ResourceClaimTemplate> auto& object) {
  auto& [meta, claim_labels, spec] = object;
  each(meta, claim_labels, spec);
}

void fields_of(auto& each, Of<Device> auto& device) {
  auto& [name, attributes] = device;
  each(name, attributes);
}

void fields_of(auto& each, Of<ResourceSlice> auto& slice) {
  auto& [meta, driver, pool, pool_generation, pool_slices, node, clique, devices] = slice;
  each(meta, driver, pool, pool_generation, pool_slices, node, clique, devices);
}

void fields_of(auto& each, Of<ClaimChannel> auto& claim) {
  auto& [claim_uid, channel] = claim;
  each(claim_uid, channel);
}

void fields_of(auto& each, Of<DaemonFailure> auto& failure) {
  auto& [time, message] = failure;
  each(time, message);
}

void fields_of(auto& each, Of<ComputeDomainChannel> auto& channel) {
  auto& [template_name, allocation_mode] = channel;
  each(template_name, allocation_mode);
}

void fields_of(auto& each, Of<Workload> auto& workload) {
  auto& [kind, name, uid] = workload;
  each(kind, name, uid);
}

void fields_of(auto& each, Of<ComputeDomainPlacement> auto& placement) {
  auto& [clique, policy] = placement;
  each(clique, policy);
}

void fields_of(auto& each, Of<ComputeDomainSpec> auto& spec) {
  auto& [num_nodes, channel, workload, placement] = spec;
  each(num_nodes, channel, workload, placement);
}

void fields_of(auto& each, Of<ComputeDomainNodeStatus> auto& node) {
  auto& [name, ip_address, clique, index, channel, ready, reason, message, restarts, last_failure,
         last_loss] = node;
  each(name, ip_address, clique, index, channel, ready, reason, message, restarts, last_failure,
       last_loss);
}

void fields_of(auto& each, Of<ComputeDomainStatus> auto& status) {
  auto& [ready, observed_generation, ready_nodes, cliques, placed_clique, nodes, conditions] =
      status;
  each(ready, observed_generation, ready_nodes, cliques, placed_clique, nodes, conditions);
}

void fields_of(auto& each, Of<ComputeDomain> auto& domain) {
  auto& [meta, spec, status] = domain;
  each(meta, spec, status);
}

void fields_of(auto& each, Of<ImexGroupReport> auto& report) {
  auto& [group, table_hash, slot, term, state, instance, since, connected, unreachable, domains,
         claims, channels, claim_channels, releases, message, restarts, last_failure, last_loss,
         lost_claims] = report;
  each(group, table_hash, slot, term, state, instance, since, connected, unreachable, domains,
       claims, channels, claim_channels, releases, message, restarts, last_failure, last_loss,
       lost_claims);
}

void fields_of(auto& each, Of<PendingClaim> auto& claim) {
  auto& [uid, message] = claim;
  each(uid, message);
}

void fields_of(auto& each, Of<ReportSummary> auto& summary) {
  auto& [state, since, domains, unreachable, message] = summary;
  each(state, since, domains, unreachable, message);
}

void fields_of(auto& each, Of<ComputeDomainNodeReport> auto& report) {
  auto& [boot_id, clique, next_clique, isolation, next_isolation, host_managed, fabric_error,
         address, groups, pending_claims, conditions, summary] = report;
  each(boot_id, clique, next_clique, isolation, next_isolation, host_managed, fabric_error, address,
       groups, pending_claims, conditions, summary);
}

void fields_of(auto& each, Of<Staleness> auto& stale) {
  auto& [state, reason, message, since] = stale;
  each(state, reason, message, since);
}

void fields_of(auto& each, Of<ConfigMap> auto& map) {
  auto& [meta, data] = map;
  each(meta, data);
}

void fields_of(auto& each, Of<ObjectReference> auto& object) {
  auto& [api_version, kind, ns, name, uid] = object;
  each(api_version, kind, ns, name, uid);
}

void fields_of(auto& each, Of<Event> auto& event) {
  auto& [meta, involved, type, reason, message, component, instance, host, count, first, last] =
      event;
  each(meta, involved, type, reason, message, component, instance, host, count, first, last);
}

void fields_of(auto& each, Of<Admission> auto& admission) {
  auto& [claim_uid, channel] = admission;
  each(claim_uid, channel);
}

void fields_of(auto& each, Of<NodeListEntry> auto& entry) {
  auto& [node, slot, address, instance, boot_id, term, member, admits] = entry;
  each(node, slot, address, instance, boot_id, term, member, admits);
}

void fields_of(auto& each, Of<Channel> auto& channel) {
  auto& [number, domain_uid, domain, release, slots] = channel;
  each(number, domain_uid, domain, release, slots);
}

void fields_of(auto& each, Of<NodeList> auto& list) {
  auto& [group, clique, slots, complete, last_term, entries, channels, last_channel, releases,
         scarce, domain] = list;
  each(group, clique, slots, complete, last_term, entries, channels, last_channel, releases, scarce,
       domain);
}

void fields_of(auto& each, Of<ComputeDomainNode> auto& node) {
  auto& [meta, status, stale] = node;
  each(meta, status, stale);
}

}  // namespace cdom::api::packed
