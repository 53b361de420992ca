// The built-in objects that this project reads or writes: Node, Pod, ConfigMap, Event, Lease, Job;
// and DaemonSet and Deployment, of which another driver may have left some.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compute_domain/api/meta.h"

namespace cdom::api {

struct Taint {
  std::string key, value, effect;

  friend bool operator==(const Taint&, const Taint&) = default;
};

struct Node {
  ObjectMeta meta;
  std::string boot_id;  // status.nodeInfo.bootID
  std::vector<Taint> taints;
  bool unschedulable = false;                        // cordoned
  ConditionStatus ready = ConditionStatus::Unknown;  // of the condition Ready
  std::string internal_ip;

  friend bool operator==(const Node&, const Node&) = default;
};

// An entry of a pod's spec.resourceClaims.
struct PodClaim {
  std::string name;
  std::string template_name;  // "" for one that names a ResourceClaim

  friend bool operator==(const PodClaim&, const PodClaim&) = default;
};

struct Pod {
  ObjectMeta meta;
  std::vector<PodClaim> claims;
  std::string node;   // spec.nodeName
  std::string phase;  // Pending, Running, Succeeded, Failed, Unknown
  std::string ip;
  bool ready = false;                       // the condition Ready is True
  std::optional<base::Time> ready_changed;  // its lastTransitionTime

  friend bool operator==(const Pod&, const Pod&) = default;
};

struct ConfigMap {
  ObjectMeta meta;
  std::map<std::string, std::string> data;

  friend bool operator==(const ConfigMap&, const ConfigMap&) = default;
};

// What an Event or another object points at.
struct ObjectReference {
  std::string api_version, kind, ns, name, uid;

  friend auto operator<=>(const ObjectReference&, const ObjectReference&) = default;
};

// events.k8s.io is the same storage; this is core/v1, which every kubectl prints.
struct Event {
  ObjectMeta meta;
  ObjectReference involved;
  std::string type;  // Normal or Warning
  std::string reason, message;
  std::string component, instance;  // reportingComponent, reportingInstance
  std::string host;                 // source.host
  std::int64_t count = 1;
  base::Time first{}, last{};

  friend bool operator==(const Event&, const Event&) = default;
};

struct Lease {
  ObjectMeta meta;
  std::string holder;
  std::int64_t duration_seconds = 0;
  std::int64_t transitions = 0;
  std::optional<base::Time> acquired, renewed;

  friend bool operator==(const Lease&, const Lease&) = default;
};

struct Job {
  ObjectMeta meta;
  std::int64_t parallelism = 1;
  std::optional<std::int64_t> completions;

  friend bool operator==(const Job&, const Job&) = default;
};

struct DaemonSet {
  ObjectMeta meta;

  friend bool operator==(const DaemonSet&, const DaemonSet&) = default;
};

struct Deployment {
  ObjectMeta meta;
  std::int64_t ready_replicas = 0;

  friend bool operator==(const Deployment&, const Deployment&) = default;
};

}  // namespace cdom::api
