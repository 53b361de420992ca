// reconcile: the operator's decisions.
//
// Pure, total and deterministic: equal worlds give equal plans, whatever the order of their inputs.
// Applying plans again and again settles: the goal is reached and the plan is empty.
#pragma once

#include "compute_domain/core/plan.h"
#include "compute_domain/core/world.h"

namespace cdom::core {

// A domain key: finalizer, template, status, teardown.
Plan reconcile(const World& world);

// A group key: its node list.
Plan reconcile_group(const GroupWorld& world);

// The key of a clique: its node list, where the nodes are isolated by channel.
Plan reconcile_clique(const CliqueWorld& world);

// A node key: the report of a node that is gone. `lists` are all node lists that name the node.
struct ReportWorld {
  std::string node;
  NodeView view;
  std::vector<StoredList> lists;
};
Plan reconcile_report(const ReportWorld& world);

// A node key: the label nvidia.com/gpu.clique of its Node. One that somebody else has written is
// left alone.
struct LabelWorld {
  std::optional<api::Node> node;      // absent: not in the cache
  std::optional<std::string> clique;  // that its ResourceSlice publishes; "" or absent: none
};
Plan reconcile_label(const LabelWorld& world);

// The key of a clique: the ResourceSlice whose devices all of its nodes share.
struct SharedSliceWorld {
  std::string clique;
  bool has_nodes = false;                    // some node publishes a seat of it
  std::optional<api::ResourceSlice> stored;  // absent: not in the cache
};
Plan reconcile_shared_slice(const SharedSliceWorld& world);
std::string shared_slice_name(const std::string& clique);

// The template that a domain wants; nullopt when it wants none. With a promise its claims ask for
// seats of that clique.
std::optional<api::ResourceClaimTemplate> wanted_template(
    const api::ComputeDomain& domain, const std::optional<Promise>& promise = std::nullopt);

}  // namespace cdom::core
