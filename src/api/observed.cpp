#include "compute_domain/api/observed.h"

#include <algorithm>

#include "api/domain/compute_domain_fields.h"
#include "api/fields/core_fields.h"
#include "api/fields/definition_fields.h"
#include "api/fields/resource_fields.h"
#include "api/json/document.h"
#include "compute_domain/api/codec.h"
#include "compute_domain/base/text.h"

namespace cdom::api {

template <>
inline constexpr auto kFields<PodClaimRef> =
    std::tuple{field("name", &PodClaimRef::name, Presence::Always),
               field("resourceClaimTemplateName", &PodClaimRef::template_name),
               field("resourceClaimName", &PodClaimRef::claim_name)};

template <>
inline constexpr auto kFields<PodClaimMade> =
    std::tuple{field("name", &PodClaimMade::name, Presence::Always),
               field("resourceClaimName", &PodClaimMade::claim_name)};

template <>
inline constexpr auto kFields<PodCondition> =
    std::tuple{field("type", &PodCondition::type, Presence::Always),
               field<AsForeignStatus>("status", &PodCondition::status, Presence::Always),
               field("reason", &PodCondition::reason), field("message", &PodCondition::message),
               field("lastTransitionTime", &PodCondition::since)};

template <>
inline constexpr auto kFields<ContainerState> =
    std::tuple{field("name", &ContainerState::name, Presence::Always),
               field("state.waiting.reason", &ContainerState::waiting_reason),
               field("state.waiting.message", &ContainerState::waiting_message),
               field("state.running.startedAt", &ContainerState::started),
               field("state.terminated.reason", &ContainerState::ended_reason),
               field("restartCount", &ContainerState::restarts)};

template <>
inline constexpr auto kFields<ContainerClaim> =
    std::tuple{field("name", &ContainerClaim::name, Presence::Always)};

template <>
inline constexpr auto kFields<ContainerSpec> = std::tuple{
    field("name", &ContainerSpec::name, Presence::Always), field("image", &ContainerSpec::image),
    field("resources.claims", &ContainerSpec::claims)};

template <>
inline constexpr auto kFields<SchedulingGate> =
    std::tuple{field("name", &SchedulingGate::name, Presence::Always)};

template <>
inline constexpr auto kFields<PodState> = std::tuple{
    field("metadata", &PodState::meta, Presence::Always),
    field("spec.resourceClaims", &PodState::claims),
    field("spec.containers", &PodState::container_specs),
    field("spec.initContainers", &PodState::init_container_specs),
    field("spec.nodeSelector", &PodState::node_selector),
    field("spec.schedulingGates", &PodState::gates),
    field("spec.nodeName", &PodState::node),
    field("status.phase", &PodState::phase),
    field("status.conditions", &PodState::conditions),
    field("status.containerStatuses", &PodState::containers),
    field("status.initContainerStatuses", &PodState::init_containers),
    field("status.resourceClaimStatuses", &PodState::made),
    field("status.extendedResourceClaimStatus.resourceClaimName", &PodState::extended_claim)};

template <>
inline constexpr auto kFields<Occurrence> =
    std::tuple{field("metadata", &Occurrence::meta, Presence::Always),
               field("involvedObject", &Occurrence::involved, Presence::Always),
               field("type", &Occurrence::type),
               field("reason", &Occurrence::reason),
               field("message", &Occurrence::message),
               field("reportingComponent", &Occurrence::component),
               field("source.component", &Occurrence::source),
               field("count", &Occurrence::count),
               field("firstTimestamp", &Occurrence::first),
               field("lastTimestamp", &Occurrence::last),
               field<AsMicroTime>("eventTime", &Occurrence::event_time),
               field<AsMicroTime>("series.lastObservedTime", &Occurrence::series_last)};

template <>
inline constexpr auto kFields<DeploymentRollout> =
    std::tuple{field("metadata", &DeploymentRollout::meta, Presence::Always),
               field("spec.replicas", &DeploymentRollout::wanted),
               field("spec.strategy.type", &DeploymentRollout::strategy),
               field("spec.template.spec.containers", &DeploymentRollout::containers),
               field("status.readyReplicas", &DeploymentRollout::ready)};

template <>
inline constexpr auto kFields<DaemonSetRollout> =
    std::tuple{field("metadata", &DaemonSetRollout::meta, Presence::Always),
               field("spec.updateStrategy.type", &DaemonSetRollout::strategy),
               field("spec.template.spec.containers", &DaemonSetRollout::containers),
               field("status.desiredNumberScheduled", &DaemonSetRollout::wanted),
               field("status.numberReady", &DaemonSetRollout::ready)};

const PodCondition* PodState::condition(std::string_view type) const {
  const auto it = std::ranges::find(conditions, type, &PodCondition::type);
  return it == conditions.end() ? nullptr : &*it;
}

std::optional<bool> PodState::uses(std::string_view claim) const {
  if (container_specs.empty()) return std::nullopt;
  const auto has_it = [&](const ContainerSpec& container) {
    return std::ranges::find(container.claims, claim, &ContainerClaim::name) !=
           container.claims.end();
  };
  return std::ranges::any_of(container_specs, has_it) ||
         std::ranges::any_of(init_container_specs, has_it);
}

std::optional<base::Time> Occurrence::begin() const {
  if (event_time) return event_time;
  return first ? first : meta.creation_time;
}

std::optional<base::Time> Occurrence::end() const {
  if (series_last) return series_last;
  return last ? last : begin();
}

template <>
const Kind& kind_of<PodState>() {
  return kind_of<Pod>();
}
template <>
const Kind& kind_of<Occurrence>() {
  return kind_of<Event>();
}
template <>
const Kind& kind_of<DeploymentRollout>() {
  return kind_of<Deployment>();
}
template <>
const Kind& kind_of<DaemonSetRollout>() {
  return kind_of<DaemonSet>();
}
template <>
const Kind& kind_of<Definition>() {
  static const Kind kind{"CustomResourceDefinition",
                         "customresourcedefinitions",
                         "apiextensions.k8s.io",
                         false,
                         {"v1"}};
  return kind;
}

CDOM_API_CODEC(PodState);
CDOM_API_CODEC(Occurrence);
CDOM_API_CODEC(DeploymentRollout);
CDOM_API_CODEC(DaemonSetRollout);
CDOM_API_CODEC(Definition);

template <class T>
std::string encode_list(const std::vector<T>& objects) {
  const Kind& kind = kind_of<T>();
  const std::string_view version = kind.versions.front();
  std::vector<std::string> items;
  items.reserve(objects.size());
  for (const T& object : objects) items.push_back(encode(object, version));
  return base::cat("{\"apiVersion\":\"", api_version_of(kind, version), "\",\"kind\":\"", kind.kind,
                   "List\",\"metadata\":{},\"items\":[", base::join(items, ",\n"), "]}\n");
}

template std::string encode_list(const std::vector<ComputeDomain>&);
template std::string encode_list(const std::vector<ComputeDomainNode>&);
template std::string encode_list(const std::vector<ResourceClaim>&);
template std::string encode_list(const std::vector<ResourceClaimTemplate>&);
template std::string encode_list(const std::vector<ResourceSlice>&);
template std::string encode_list(const std::vector<DeviceClass>&);
template std::string encode_list(const std::vector<Node>&);
template std::string encode_list(const std::vector<ConfigMap>&);
template std::string encode_list(const std::vector<Lease>&);
template std::string encode_list(const std::vector<PodState>&);
template std::string encode_list(const std::vector<Occurrence>&);
template std::string encode_list(const std::vector<DeploymentRollout>&);
template std::string encode_list(const std::vector<DaemonSetRollout>&);
template std::string encode_list(const std::vector<Definition>&);

}  // namespace cdom::api
