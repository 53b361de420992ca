#include "compute_domain/api/program.h"

#include "api/fields/core_fields.h"
#include "api/json/document.h"

namespace cdom::api {

template <>
inline constexpr auto kFields<ContainerProgram> =
    std::tuple{field("name", &ContainerProgram::name, Presence::Always),
               field("command", &ContainerProgram::command)};

template <>
inline constexpr auto kFields<PodProgram> =
    std::tuple{field("metadata", &PodProgram::meta, Presence::Always),
               field("spec.serviceAccountName", &PodProgram::service_account),
               field("spec.containers", &PodProgram::containers),
               field<AsForeignStatus>("status.conditions[type=Ready].status", &PodProgram::ready)};

template <>
inline constexpr auto kFields<DeploymentProgram> =
    std::tuple{field("metadata", &DeploymentProgram::meta, Presence::Always),
               field("spec.template.metadata.labels", &DeploymentProgram::pod_labels),
               field("spec.template.spec.serviceAccountName", &DeploymentProgram::service_account),
               field("spec.template.spec.containers", &DeploymentProgram::containers),
               field("status.readyReplicas", &DeploymentProgram::ready_replicas)};

template <>
const Kind& kind_of<PodProgram>() {
  return kind_of<Pod>();
}
template <>
const Kind& kind_of<DeploymentProgram>() {
  return kind_of<Deployment>();
}

CDOM_API_CODEC(PodProgram);
CDOM_API_CODEC(DeploymentProgram);

}  // namespace cdom::api
