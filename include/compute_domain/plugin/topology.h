// topology: the cliques of a cluster with their nodes and devices, the domains on them, and pairs
// of nodes that do not reach each other. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute_domain/plugin/cluster_view.h"

namespace cdom::plugin {

// Devices that a node, or all nodes of a clique, offer.
struct DeviceCount {
  std::int64_t free = 0, in_use = 0;
  std::int64_t out = 0;  // of nodes that are not Ready or not schedulable

  friend bool operator==(const DeviceCount&, const DeviceCount&) = default;
};

struct TopologyNode {
  std::string name;
  DeviceCount devices;
  // Words of the report; "" when there is none. The daemon is Unknown where it is not believed.
  std::string isolation, daemon;
  std::vector<std::string> domains;
  std::string trouble;   // why it cannot serve, as `check` finds it; "" for none
  bool is_meant = true;  // somebody wanted the trouble: the node is cordoned

  friend bool operator==(const TopologyNode&, const TopologyNode&) = default;
};

struct TopologyClique {
  std::string name;  // "" : the nodes without an NVLink fabric, or of whose clique nobody knows
  DeviceCount devices;
  std::vector<TopologyNode> nodes;
  std::vector<std::string> domains;

  friend bool operator==(const TopologyClique&, const TopologyClique&) = default;
};

// `from` reports that its IMEX daemon does not reach `to`.
struct UnreachablePair {
  std::string domain, from, to;

  friend bool operator==(const UnreachablePair&, const UnreachablePair&) = default;
};

struct TopologyReport {
  std::vector<TopologyClique> cliques;  // by name, those without a fabric last
  std::vector<UnreachablePair> unreachable;
};

TopologyReport topology(const ClusterView& view);

std::string text_of(const TopologyReport& report);
std::string json_of(const TopologyReport& report);

}  // namespace cdom::plugin
