// Views of built-in kinds for a person who looks for the cause of a trouble: how far a pod has
// come, what an Event says, how much of a Deployment or DaemonSet is ready; and which fields a
// CustomResourceDefinition has.
//
// None of them has a field for a container's command, its environment or a volume, so writing one
// out cannot reveal a secret. Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/api/core.h"
#include "compute_domain/api/kind.h"
#include "compute_domain/api/meta.h"

namespace cdom::api {

// An entry of a pod's spec.resourceClaims: it names a template or a claim.
struct PodClaimRef {
  std::string name, template_name, claim_name;

  friend bool operator==(const PodClaimRef&, const PodClaimRef&) = default;
};

// The claim that was made for such an entry.
struct PodClaimMade {
  std::string name, claim_name;

  friend bool operator==(const PodClaimMade&, const PodClaimMade&) = default;
};

struct PodCondition {
  std::string type;
  ConditionStatus status = ConditionStatus::Unknown;
  std::string reason, message;
  std::optional<base::Time> since;

  friend bool operator==(const PodCondition&, const PodCondition&) = default;
};

struct ContainerState {
  std::string name;
  std::string waiting_reason, waiting_message;  // "" unless it waits
  std::optional<base::Time> started;            // while it runs
  std::string ended_reason;                     // "Completed", "Error"; "" unless it has ended
  std::int64_t restarts = 0;

  friend bool operator==(const ContainerState&, const ContainerState&) = default;
};

// An entry of a container's resources.claims: it names one of the pod's spec.resourceClaims.
struct ContainerClaim {
  std::string name;

  friend bool operator==(const ContainerClaim&, const ContainerClaim&) = default;
};

// A container as a pod's spec asks for it.
struct ContainerSpec {
  std::string name, image;
  std::vector<ContainerClaim> claims;

  friend bool operator==(const ContainerSpec&, const ContainerSpec&) = default;
};

// What keeps the scheduler from a pod until somebody takes it away.
struct SchedulingGate {
  std::string name;

  friend bool operator==(const SchedulingGate&, const SchedulingGate&) = default;
};

struct PodState {
  ObjectMeta meta;
  std::vector<PodClaimRef> claims;
  // Both are empty in a bundle of a release that did not keep them.
  std::vector<ContainerSpec> container_specs, init_container_specs;
  std::vector<PodClaimMade> made;
  std::string extended_claim;  // that the scheduler made for an extended resource; "": none
  Labels node_selector;
  std::vector<SchedulingGate> gates;
  std::string node, phase;
  std::vector<PodCondition> conditions;
  std::vector<ContainerState> containers, init_containers;

  [[nodiscard]] const PodCondition* condition(std::string_view type) const;
  // Whether a container has this entry of spec.resourceClaims; nullopt: nobody knows.
  [[nodiscard]] std::optional<bool> uses(std::string_view claim) const;

  friend bool operator==(const PodState&, const PodState&) = default;
};

// An Event, also one that its writer recorded by events.k8s.io, which has other times.
struct Occurrence {
  ObjectMeta meta;
  ObjectReference involved;
  std::string type, reason, message;
  std::string component, source;  // reportingComponent; source.component of older writers
  std::int64_t count = 0;
  std::optional<base::Time> first, last;
  std::optional<base::Time> event_time, series_last;

  // When it was first and last seen.
  [[nodiscard]] std::optional<base::Time> begin() const;
  [[nodiscard]] std::optional<base::Time> end() const;

  friend bool operator==(const Occurrence&, const Occurrence&) = default;
};

struct DeploymentRollout {
  ObjectMeta meta;
  std::int64_t wanted = 0, ready = 0;
  std::string strategy;                   // of updates: "RollingUpdate", "Recreate"
  std::vector<ContainerSpec> containers;  // of the pods that it makes

  friend bool operator==(const DeploymentRollout&, const DeploymentRollout&) = default;
};

struct DaemonSetRollout {
  ObjectMeta meta;
  std::int64_t wanted = 0, ready = 0;
  std::string strategy;                   // of updates: "RollingUpdate", "OnDelete"
  std::vector<ContainerSpec> containers;  // of the pods that it makes

  friend bool operator==(const DaemonSetRollout&, const DaemonSetRollout&) = default;
};

// Instead of a name, the last step of a path: the schema keeps fields that it does not know.
inline constexpr char kAnyField[] = "*";

struct DefinitionVersion {
  std::string name;
  bool served = false;
  // Paths of its schema, sorted: "spec", "spec.numNodes", "status.nodes[].name", "spec.*".
  std::vector<std::string> fields;

  friend bool operator==(const DefinitionVersion&, const DefinitionVersion&) = default;
};

struct Definition {
  ObjectMeta meta;
  std::vector<DefinitionVersion> versions;
  bool established = false;

  friend bool operator==(const Definition&, const Definition&) = default;
};

template <>
const Kind& kind_of<PodState>();
template <>
const Kind& kind_of<Occurrence>();
template <>
const Kind& kind_of<DeploymentRollout>();
template <>
const Kind& kind_of<DaemonSetRollout>();
template <>
const Kind& kind_of<Definition>();

// A list of objects of one kind as an API server gives it, in the first version of the kind.
template <class T>
std::string encode_list(const std::vector<T>& objects);

}  // namespace cdom::api
