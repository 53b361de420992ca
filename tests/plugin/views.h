// Views: ClusterViews as sentences, made from the worlds that the tests of the core build.
// view_of(settled_world(2)) is a healthy cluster with one domain that is Ready.
#pragma once

#include <string>

#include "compute_domain/controller/definitions.h"
#include "compute_domain/plugin/check.h"
#include "compute_domain/plugin/cluster_view.h"
#include "compute_domain/plugin/why.h"
#include "core/builders.h"

namespace cdom::plugin::testing {

using core::testing::claim;
using core::testing::domain;
using core::testing::idle_node;
using core::testing::kClique;
using core::testing::kNow;
using core::testing::settled_world;

inline api::ResourceSlice slice_of(const std::string& node, const std::string& clique = kClique) {
  api::ResourceSlice slice;
  slice.meta.name = node + "-slice";
  slice.meta.uid = "uid-slice-" + node;
  slice.driver = api::kDriver;
  slice.pool = node;
  slice.pool_generation = 1;
  slice.node = node;
  slice.devices = {{"channel-0",
                    {{api::kAttributeType, std::string("channel")},
                     {api::kAttributeId, std::int64_t{0}},
                     {api::kAttributeClique, clique}}}};
  return slice;
}

// A pod that runs, with a claim of that name from a template.
inline api::PodState running_pod(const std::string& name, const std::string& claim_name,
                                 const std::string& template_name, const std::string& node) {
  api::PodState pod;
  pod.meta.name = name;
  pod.meta.ns = "team-a";
  pod.meta.uid = "uid-" + name;
  pod.meta.creation_time = kNow - std::chrono::seconds(20);
  pod.claims = {{.name = "channel", .template_name = template_name, .claim_name = {}}};
  pod.made = {{.name = "channel", .claim_name = claim_name}};
  pod.container_specs = {{.name = "worker", .image = {}, .claims = {{"channel"}}}};
  pod.node = node;
  pod.phase = "Running";
  pod.conditions = {{.type = "PodScheduled",
                     .status = api::ConditionStatus::True,
                     .reason = {},
                     .message = {},
                     .since = kNow - std::chrono::seconds(18)}};
  pod.containers = {{.name = "worker",
                     .waiting_reason = {},
                     .waiting_message = {},
                     .started = kNow - std::chrono::seconds(10)}};
  return pod;
}

// A pod that the scheduler has no node for; its claim is not allocated.
inline api::PodState pending_pod(const std::string& name, const std::string& claim_name,
                                 const std::string& template_name) {
  api::PodState pod = running_pod(name, claim_name, template_name, "");
  pod.phase = "Pending";
  pod.containers.clear();
  pod.conditions = {{.type = "PodScheduled",
                     .status = api::ConditionStatus::False,
                     .reason = "Unschedulable",
                     .message = "0/2 nodes are available: 2 cannot allocate all claims.",
                     .since = kNow - std::chrono::seconds(18)}};
  return pod;
}

// The agent's pod on a node.
inline api::PodState agent_pod(const std::string& node) {
  api::PodState pod;
  pod.meta.name = "agent-" + node;
  pod.meta.ns = "compute-domain-nodes";
  pod.meta.uid = "uid-agent-" + node;
  pod.meta.labels[api::kAgentAppLabel] = api::kAgentApp;
  pod.node = node;
  pod.phase = "Running";
  pod.conditions = {{.type = "Ready",
                     .status = api::ConditionStatus::True,
                     .reason = {},
                     .message = {},
                     .since = kNow - std::chrono::hours(1)}};
  return pod;
}

inline api::DeviceClass device_class(const std::string& name) {
  api::DeviceClass object;
  object.meta.name = name;
  return object;
}

// That the controller renewed so long ago.
inline api::Lease lease_renewed(base::Duration ago) {
  api::Lease lease;
  lease.meta.name = "compute-domain-controller";
  lease.meta.ns = "compute-domain-operator";
  lease.holder = "controller-1";
  lease.duration_seconds = 15;
  lease.renewed = kNow - ago;
  return lease;
}

// A node's report says that it can serve.
inline void can_serve(api::ComputeDomainNode& report) {
  report.status.conditions = {{.type = api::kConditionCanServe,
                               .status = api::ConditionStatus::True,
                               .reason = "RequirementsMet",
                               .message = "offers its devices",
                               .last_transition = kNow}};
}

// A cluster whose operator works.
inline ClusterView installed() {
  ClusterView view;
  view.taken = kNow;
  view.server_version = "v1.36.0";
  view.namespaces.user = "team-a";
  view.definitions = controller::expected_definitions();
  for (api::Definition& definition : view.definitions) definition.established = true;
  view.classes = {device_class(api::kChannelClass),
                  device_class("compute-domain-daemon.nvidia.com")};
  view.leases = {lease_renewed(std::chrono::seconds(2))};
  return view;
}

// A node that can serve, with its agent's pod and a device.
inline void add_node(ClusterView& view, const core::NodeView& node,
                     const std::string& clique = kClique) {
  const std::string& name = node.report->meta.name;
  view.nodes.push_back(*node.node);
  view.reports.push_back(*node.report);
  can_serve(view.reports.back());
  view.slices.push_back(slice_of(name, clique));
  view.pods.push_back(agent_pod(name));
}

// The cluster of that world, with a pod for each claim: claim c1 is of pod "pod-c1".
inline ClusterView view_of(const core::World& world) {
  ClusterView view = installed();
  if (world.view.domain) view.domains = {*world.view.domain};
  view.claims = world.view.claims;
  view.templates = world.templates;
  for (const core::StoredList& stored : world.lists) {
    api::ConfigMap map = core::config_map_of(*stored.list, *world.view.domain, world.settings);
    map.meta.uid = stored.meta.uid;
    map.meta.resource_version = stored.meta.resource_version;
    view.lists.push_back(map);
  }
  for (const auto& [name, node] : world.nodes) add_node(view, node);
  for (const api::ResourceClaim& claim : world.view.claims) {
    view.pods.push_back(running_pod("pod-" + claim.meta.name, claim.meta.name, "train-channel",
                                    claim.allocation ? claim.allocation->node : ""));
  }
  return view;
}

inline ClusterView settled_view(int nodes = 2) { return view_of(settled_world(nodes)); }

// That the pod has lost its memory, told so long ago.
inline api::Occurrence memory_lost(const std::string& pod, base::Duration ago) {
  api::Occurrence event;
  event.meta.name = "lost-" + pod;
  event.meta.ns = "team-a";
  event.involved.uid = "uid-" + pod;
  event.type = "Warning";
  event.reason = "ImexMemoryLost";
  event.message = "the IMEX daemon of node n1 has ended, and with it the memory of this pod";
  event.event_time = kNow - ago;
  return event;
}

// The name of the link where a chain stops; "" when it does not.
inline std::string stop_of(const WhyReport& report) {
  const Link* broken = report.broken();
  return broken == nullptr ? "" : broken->name;
}

inline api::PodState& pod_in(ClusterView& view, const std::string& name) {
  for (api::PodState& pod : view.pods) {
    if (pod.meta.name == name) return pod;
  }
  throw std::logic_error("no pod " + name);
}
inline api::ComputeDomainNode& report_in(ClusterView& view, const std::string& node) {
  for (api::ComputeDomainNode& report : view.reports) {
    if (report.meta.name == node) return report;
  }
  throw std::logic_error("no report " + node);
}

}  // namespace cdom::plugin::testing
