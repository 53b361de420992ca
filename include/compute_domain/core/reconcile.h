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

// The key of one of its groups: the node list.
Plan reconcile_group(const World& world, const ImexGroupKey& key);

// The key of a clique: its node list, where the nodes are isolated by channel.
Plan reconcile_clique(const CliqueWorld& world);

// A report key: on the node's report, whether that can be believed and what the agent has to know
// of its Node; and the end of the report of a node that is gone. `lists` are all node lists that
// name a node which is gone.
struct ReportWorld {
  std::string node;
  NodeView view;
  std::vector<StoredList> lists;
  base::Time now{};
  Settings settings = {};
};
Plan reconcile_report(const ReportWorld& world);

// A label key: the label nvidia.com/gpu.clique of a Node. One that somebody else has written is
// left alone.
struct LabelWorld {
  std::optional<api::Node> node;      // absent: not in the cache
  std::optional<std::string> clique;  // that its ResourceSlice publishes; "" or absent: none
};
Plan reconcile_label(const LabelWorld& world);

// The clique that the label names, as long as somebody else than the controller has written it; "":
// none. The controller copies what the node's own agent publishes, which proves nothing.
std::string confirmed_clique(const api::ObjectMeta& node);
// Why that is not `clique`, and the command that confirms it; "" when it is.
std::string why_not_confirmed(const api::ObjectMeta& node, const std::string& clique);

// An agent label key: whether a Node has the label by which DaemonSets give it an agent and an IMEX
// supervisor. Node feature discovery says which Nodes have GPUs; when it stops saying so, the label
// stays as long as a claim may be in use, as the end of these pods is the end of NVLink jobs.
struct AgentLabelWorld {
  NodeView view;
  bool has_claims = false;       // on this node, by the cache
  bool may_have_claims = false;  // which share a clique's devices: their pods may be anywhere
};
Plan reconcile_agent_label(const AgentLabelWorld& world);
// Whether a label of a Node says that it has NVIDIA GPUs, and whether some label does.
bool tells_of_gpus(const std::string& key, const std::string& value);
bool has_gpus(const api::ObjectMeta& node);
// Whether a Node is to have an agent, by the label that the DaemonSets select by.
bool needs_agent(const api::ObjectMeta& node);

// The key of a clique: the ResourceSlice whose devices all of its nodes share.
struct SharedSliceWorld {
  std::string clique;
  bool has_nodes = false;                    // some node publishes a seat of it, and has its label
  std::optional<api::ResourceSlice> stored;  // absent: not in the cache
};
Plan reconcile_shared_slice(const SharedSliceWorld& world);
std::string shared_slice_name(const std::string& clique);

// The key of a domain's ComputeDomainCliques: objects by which tools of the reference driver know
// the domain's daemons. They repeat what the domain's status says, and nothing here reads them.
struct CliqueObjectsWorld {
  std::string uid;                               // of the domain
  std::string ns;                                // the operator's, where they are
  std::optional<api::ComputeDomain> domain;      // absent: not in the cache
  bool has_predecessor = false;                  // whose own daemons write such objects then
  std::vector<api::ComputeDomainClique> stored;  // whose names begin with the UID; in any order
  std::set<std::string> reported;  // UIDs of those that had their Event from this process
  std::map<std::string, PrunedDaemons> pruned;  // by UID: what was cut of this process's last write
};
Plan reconcile_clique_objects(const CliqueObjectsWorld& world);
// The UID in the name of such an object; "" if there is none.
std::string domain_of_clique_object(const std::string& name);
// Whether the controller has written it, by its label.
bool is_own_clique_object(const api::ComputeDomainClique& object);
// Whether it goes with the ConfigMap kCliquesOwner.
bool has_cliques_owner(const api::ObjectMeta& meta);

// The template that a domain wants; nullopt when it wants none. With a reservation its claims ask
// for seats of that clique.
std::optional<api::ResourceClaimTemplate> wanted_template(
    const api::ComputeDomain& domain, const std::optional<Reservation>& reservation = std::nullopt);

}  // namespace cdom::core
