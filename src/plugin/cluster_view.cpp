#include "compute_domain/plugin/cluster_view.h"

#include <algorithm>
#include <array>
#include <set>

#include "compute_domain/api/names.h"
#include "compute_domain/base/text.h"
#include "compute_domain/core/claim_config.h"
#include "compute_domain/core/membership.h"
#include "compute_domain/core/node_pause.h"
#include "compute_domain/core/reconcile.h"
#include "compute_domain/core/reservations.h"
#include "plugin/reduce.h"

namespace cdom::plugin {

namespace {

// Annotations that some decision reads; every other one may hold anything, as kubectl's copy of
// what was applied.
bool is_known_annotation(const std::string& name) {
  static const std::set<std::string, std::less<>> kKnown{
      api::kFencedAnnotation, api::kPauseAnnotation, api::kPlacementGeneration,
      api::kPodClaimAnnotation, api::kNodeCliqueMark};
  return kKnown.contains(name);
}

bool is_known_label(const std::string& name, const std::string& value) {
  constexpr std::array<std::string_view, 2> kPrefixes{"resource.nvidia.com/", "app.kubernetes.io/"};
  static const std::set<std::string, std::less<>> kKnown{
      api::kAgentAppLabel, api::kNodeCliqueLabel, api::kJobSetUidLabel,       api::kJobSetNameLabel,
      api::kGroupKeyLabel, api::kGroupIndexLabel, api::kLeaderWorkerSetLabel, kHostNameLabel};
  return kKnown.contains(name) || core::tells_of_gpus(name, value) ||
         core::tells_of_pause(name, value) ||
         std::ranges::any_of(kPrefixes, [&](auto prefix) { return name.starts_with(prefix); });
}

void reduce_configs(std::vector<api::OpaqueConfig>& configs) {
  std::erase_if(configs,
                [](const api::OpaqueConfig& config) { return config.driver != api::kDriver; });
}

bool is_ours(const api::ResourceClaim& claim) {
  if (core::asks_for_domain(claim.spec)) return true;
  return claim.allocation &&
         std::ranges::find(claim.allocation->devices, api::kDriver,
                           &api::AllocatedDevice::driver) != claim.allocation->devices.end();
}

// Names of nodes that have reported, or offer devices.
std::set<std::string> serving_nodes(const ClusterView& view) {
  std::set<std::string> names;
  for (const auto& report : view.reports) names.insert(report.meta.name);
  for (const auto& slice : view.slices) names.insert(slice.node);
  return names;
}

// An object in the namespaces of the operator.
template <class T>
bool is_operators(const ClusterView& view, const T& object) {
  return object.meta.ns == view.namespaces.operators || object.meta.ns == view.namespaces.nodes;
}

}  // namespace

void reduce(api::ObjectMeta& meta) {
  std::erase_if(meta.annotations,
                [](const auto& entry) { return !is_known_annotation(entry.first); });
  std::erase_if(meta.labels,
                [](const auto& entry) { return !is_known_label(entry.first, entry.second); });
}

bool reduce_object(api::ResourceClaim& claim) {
  reduce(claim.meta);
  if (!is_ours(claim)) return false;
  reduce_configs(claim.spec.configs);
  if (claim.allocation) reduce_configs(claim.allocation->configs);
  // The shapes are those of v1, in whatever version they came.
  claim.version = "v1";
  return true;
}

bool reduce_object(api::ResourceClaimTemplate& object) {
  reduce(object.meta);
  if (!core::asks_for_domain(object.spec)) return false;
  reduce_configs(object.spec.configs);
  object.claim_labels.clear();
  return true;
}

bool reduce_object(api::ResourceSlice& slice) {
  reduce(slice.meta);
  return slice.driver == api::kDriver;
}

bool reduce_object(api::DeviceClass& device_class) {
  reduce(device_class.meta);
  return device_class.meta.name.starts_with("compute-domain-");
}

bool reduce_object(api::ConfigMap& map) {
  reduce(map.meta);
  return !map.meta.label(api::kGroupLabel).empty() || map.meta.name == core::kReservationsName;
}

std::set<std::string> involved_uids(const ClusterView& view) {
  std::set<std::string> uids;
  const auto add = [&](const auto& objects) {
    for (const auto& object : objects) uids.insert(object.meta.uid);
  };
  add(view.domains);
  add(view.claims);
  add(view.reports);
  add(view.pods);
  uids.erase("");
  return uids;
}

ClusterView reduced(ClusterView view) {
  for_each_kind(view, [&view](const char*, auto& objects) {
    std::erase_if(objects, [&view](auto& object) { return !reduce_for(view, object); });
  });
  std::erase_if(view.nodes, [serving = serving_nodes(view)](const api::Node& node) {
    return !core::has_gpus(node.meta) && node.meta.label(api::kAgentNodeLabel).empty() &&
           !serving.contains(node.meta.name);
  });
  std::erase_if(view.pods, [&](const api::PodState& pod) {
    return pod.claims.empty() && pod.extended_claim.empty() && !is_operators(view, pod);
  });
  // What runs in a tenant's pods concerns nobody here.
  for (api::PodState& pod : view.pods) {
    if (is_operators(view, pod)) continue;
    for (auto* containers : {&pod.container_specs, &pod.init_container_specs}) {
      for (api::ContainerSpec& container : *containers) container.image.clear();
    }
  }
  // Events are many, and tell of everything: kept are those on objects that are here, and those of
  // the operator, which tell also why it has no pods.
  std::erase_if(view.events, [&, uids = involved_uids(view)](const api::Occurrence& event) {
    const bool is_of_operator =
        is_operators(view, event) && event.involved.name.starts_with("compute-domain-");
    return !uids.contains(event.involved.uid) && !is_of_operator;
  });
  for_each_kind(view, [](const char*, auto& objects) {
    using Object = typename std::remove_cvref_t<decltype(objects)>::value_type;
    if constexpr (std::is_same_v<Object, api::Occurrence>) {
      std::ranges::sort(objects, {}, [](const api::Occurrence& event) {
        return std::tuple(event.begin(), event.meta.ns, event.meta.name);
      });
    } else {
      std::ranges::sort(objects, {}, [](const auto& object) { return api::name_of(object.meta); });
    }
  });
  view.taken = std::chrono::floor<std::chrono::seconds>(view.taken);
  return view;
}

namespace {

std::string lacking_kind(const ClusterView& view, const api::Kind& kind) {
  const std::string name = base::cat(kind.plural, ".", kind.group);
  const auto it =
      std::ranges::find(view.definitions, name, [](const auto& d) { return d.meta.name; });
  if (it == view.definitions.end()) {
    return base::cat("the cluster has no ", kind.kind, "s: CRD ", name,
                     " is not installed; install the operator (docs/install.md)");
  }
  std::vector<std::string> served;
  for (const api::DefinitionVersion& version : it->versions) {
    if (version.served && version.name == kind.versions.front()) return "";
    if (version.served) served.push_back(version.name);
  }
  return base::cat("the cluster serves ", name, " in version ",
                   served.empty() ? "none" : base::join(served, ", "), ", and this plugin reads ",
                   kind.versions.front(), ": use the plugin of the operator's release");
}

}  // namespace

std::string lacking_api(const ClusterView& view) {
  const std::string lack = lacking_kind(view, api::kind_of<api::ComputeDomain>());
  return lack.empty() ? lacking_kind(view, api::kind_of<api::ComputeDomainNode>()) : lack;
}

}  // namespace cdom::plugin
