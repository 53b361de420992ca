// World: the immutable snapshot that one reconcile decides on.
//
// Plain values, gathered by the shell from its stores. A cached object may be old and a missing one
// proves nothing: what has to be certain is asked of the API server by an action of the Plan.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compute_domain/api/compute_domain.h"
#include "compute_domain/api/compute_domain_node.h"
#include "compute_domain/api/core.h"
#include "compute_domain/api/node_list.h"
#include "compute_domain/api/resource.h"
#include "compute_domain/base/shared.h"
#include "compute_domain/core/reasons.h"
#include "compute_domain/core/reservations.h"

namespace cdom::core {

struct Settings {
  std::string operator_namespace = "compute-domain-operator";
  std::int64_t slots_per_group = 18;  // MAX_NODES_PER_IMEX_DOMAIN
  // Channels of a node: the numbers 1 to channels - 1 go to domains that differ by channel.
  std::int64_t channels = 2048;
  // Between two writes of one object that nobody waits for.
  base::Duration status_interval = std::chrono::milliseconds(500);
  // The same for a status that is NotReady before and after, with the same slots and conditions,
  // and that causes no Event.
  base::Duration detail_interval = std::chrono::seconds(2);
  base::Duration list_interval = std::chrono::milliseconds(50);
  // A node list that lacks some of `spec.numNodes` is written once no node has come for this long,
  // or when it has been held for longest_hold.
  base::Duration arrivals_pause = std::chrono::milliseconds(200);
  base::Duration longest_hold = std::chrono::seconds(1);
  base::Duration agent_grace = std::chrono::seconds(60);
  bool labels_nodes = false;   // GPU_CLIQUE_LABEL_ENABLED
  bool shares_claims = false;  // SHARED_CLAIMS_ENABLED
  bool fills_cliques = false;  // COMPUTE_DOMAIN_CLIQUES_ENABLED
  // How long a clique may lack seats before a domain whose pods wait for them is placed again.
  base::Duration placement_patience = std::chrono::seconds(60);
  // The namespaces in which NVIDIA's DRA driver was, whose domains are taken over; none: nothing
  // of that driver is believed.
  std::set<std::string> adopt_from = {};
};

// The agent's own pod on a node: its Ready condition is the agent's life.
struct AgentPod {
  bool ready = false;
  base::Duration lasts{};  // for how long `ready` has been as it is, by elapsed time

  friend bool operator==(const AgentPod&, const AgentPod&) = default;
};

// All that is known of one node.
struct NodeView {
  std::optional<api::Node> node;
  std::optional<api::ComputeDomainNode> report;
  std::optional<AgentPod> agent;
  // Its daemon has been another one, or elsewhere, again and again: for so long a list keeps what
  // it has of it.
  base::Duration restless_for{};

  friend bool operator==(const NodeView&, const NodeView&) = default;
};
using NodeViews = std::map<std::string, NodeView>;  // by node name

// A node list as it lies in the API server. `list` is absent when the text was not written by us:
// `problem` says what is wrong with it.
struct StoredList {
  api::ObjectMeta meta;
  base::Shared<api::NodeList> list;
  std::string problem;
  // Instead of a list: the object, when it is the reservations ConfigMap, which lies beside the
  // lists.
  base::Shared<api::ConfigMap> reservations;

  friend bool operator==(const StoredList&, const StoredList&) = default;
};

// One domain and the claims that name it, wherever they are.
struct DomainView {
  std::string uid;
  std::optional<api::ComputeDomain> domain;  // absent: not in the cache
  std::vector<api::ResourceClaim> claims;    // in any order
  // The reference driver, which was here before, has daemons for this domain. They serve its claims
  // until the last one has ended; nothing of ours starts before they are gone.
  bool has_predecessor = false;

  friend bool operator==(const DomainView&, const DomainView&) = default;
};

// Whether a domain has its clique, and why, in the words of its condition Placed.
struct PlacementVerdict {
  bool holds = false;
  Reason reason = "Choosing";
  std::string message;

  friend bool operator==(const PlacementVerdict&, const PlacementVerdict&) = default;
};

// A status, and what was left of it: the cluster's CustomResourceDefinition is older than this
// program and does not know all of its fields.
struct PrunedStatus {
  api::ComputeDomainStatus sent, kept;

  friend bool operator==(const PrunedStatus&, const PrunedStatus&) = default;
};

// The same of a ComputeDomainClique.
struct PrunedDaemons {
  std::vector<api::ComputeDomainCliqueDaemon> sent, kept;

  friend bool operator==(const PrunedDaemons&, const PrunedDaemons&) = default;
};

// A request that has failed again and again for a while: nothing has answered it, or the API server
// could not carry it out.
struct LastingFailure {
  std::string what;    // which request, and how it failed last
  base::Time since{};  // the first failure

  friend bool operator==(const LastingFailure&, const LastingFailure&) = default;
};

// The seats of the cluster, as nodes offer them.
struct SeatCount {
  // `out`: neither in use nor free, as no pod is placed on the node.
  std::int64_t total = 0, in_use = 0, out = 0;
  bool one_per_node = true;
  // Nodes that offer none and report why: by the reason of their condition CanServe, a row of
  // reasons.h. What else they report is a node's own text, and every tenant that waits sees this.
  std::map<std::string, std::vector<std::string>> lacking = {};
  // Nodes with seats that are out, by what is said of them: "cordoned".
  std::map<std::string, std::vector<std::string>> closed = {};
  std::int64_t told_by = 0;  // domains whose status tells of them

  [[nodiscard]] std::int64_t free() const;
  // Those that a domain can have once nobody else has any, as far as that is known: a node whose
  // seat is in use may be cordoned too.
  [[nodiscard]] std::int64_t usable() const { return total - out; }

  friend bool operator==(const SeatCount&, const SeatCount&) = default;
};

// A group is what one set of IMEX daemons serves. With isolation by domain, one domain and clique;
// by channel a clique, for all domains.
struct ImexGroupKey {
  std::string domain_uid;  // "" by channel
  std::string clique;

  friend auto operator<=>(const ImexGroupKey&, const ImexGroupKey&) = default;
};

// A node list that is not written yet, as others are about to come.
struct HeldList {
  std::uint64_t digest = 0;       // of the nodes that it admits
  base::Time since{}, changed{};  // when it was first held, and when the digest last changed

  friend bool operator==(const HeldList&, const HeldList&) = default;
};

// For the keys of a domain and of its groups: decides node lists, template, status and finalizer.
// For the node lists only what comes first is read, down to `lists_held`.
struct World {
  base::Time now{};
  Settings settings;
  DomainView view;
  std::vector<StoredList> lists;                     // of this domain's groups
  NodeViews nodes;                                   // that a claim, a list or the status names
  std::map<ImexGroupKey, base::Time> lists_written;  // by this process
  std::map<ImexGroupKey, HeldList> lists_held;       // likewise
  // The template of the wanted name; when the domain is absent, all templates that bear its UID.
  std::vector<api::ResourceClaimTemplate> templates;
  std::optional<base::Time> status_written;  // by this process
  base::Duration known_for{};                // how long this process has known the domain
  // When this process wrote the first node list of this domain since it last wrote the status.
  std::optional<base::Time> unreported_list;
  std::set<std::string> reported_claims;  // UIDs that got their Event from this process
  // Whether the workload of a claim that names no domain is still unknown.
  bool has_unknown_claims = false;
  // It has shared claims, and on which nodes their pods run this process has not read yet.
  bool awaits_pods = false;
  // For a domain that wants one clique: what is reserved for it, and what this process found last.
  std::optional<Reservation> reservation;
  std::optional<PlacementVerdict> placement;
  // What the API server refuses to this domain, or somebody else holds, each with what it said: no
  // attempt helps until a person changes something.
  std::vector<std::string> refusals;
  // What nothing has answered for a while.
  std::vector<LastingFailure> failures;
  // What this process has last written, when the API server kept less of it.
  std::optional<PrunedStatus> pruned;
  // While the domain is being deleted: what has made pods of its claims, by the pods' UIDs, as far
  // as that is known; and when the pods of the namespace were last read.
  std::map<std::string, api::OwnerReference> makers;
  std::optional<base::Time> pods_read;
  std::optional<SeatCount> seats;  // counted only when claims of it have waited for one for long
};

// For the key of a clique whose domains differ by channel: decides its node list.
struct CliqueWorld {
  base::Time now{};
  Settings settings;
  std::string clique;
  std::optional<StoredList> list;
  std::vector<DomainView> domains;  // with claims on the nodes, or a channel; in any order
  // The other node lists of these domains, by UID.
  std::map<std::string, std::vector<StoredList>> lists_of_domains;
  NodeViews nodes;  // of the clique, in the list, or with a claim of these domains
  std::optional<base::Time> list_written;  // by this process
  // Domains whose end could not be proved, by UID, and for how long nobody asks again: they keep
  // their channels.
  std::map<std::string, base::Duration> unproven;
};

}  // namespace cdom::core
