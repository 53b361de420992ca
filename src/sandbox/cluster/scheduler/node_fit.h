// NodeFit: whether a pod fits a node, apart from its devices and from other pods, and how full the
// node would be.
//
// The filters of kube-scheduler that matter here, with its words: unschedulable, taints, node
// selector and affinity, resources; pod_rules.h has those of pods. Pure functions of a snapshot.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/cluster/json_informer.h"
#include "sandbox/text/json.h"

namespace cdom::sandbox {

// The amounts of a node or a pod: resource name to thousandths.
using Amounts = std::map<std::string, std::int64_t>;

// Requests of a pod: the sum over containers, or the largest init container; limits stand in where
// requests are absent.
Amounts requests_of(const json& pod);

struct NodeSnapshot {
  ObjectPtr node;
  Amounts allocatable, used;
  std::vector<ObjectPtr> pods;  // that hold a place on it
};

struct ClusterSnapshot {
  std::vector<NodeSnapshot> nodes;  // by name
};
ClusterSnapshot snapshot_of(const JsonInformer& nodes, const JsonInformer& pods);

// Why the pod cannot run there ("Insufficient cpu"), or nullopt when it can.
std::optional<std::string> reason_against(const json& pod, const Amounts& requests,
                                          const NodeSnapshot& node);

// The share of cpu, memory and places that is taken, 0 to 1: the least wins.
double fill_of(const NodeSnapshot& node, const Amounts& requests);

}  // namespace cdom::sandbox
