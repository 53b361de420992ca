// Cluster: a simulated Kubernetes cluster of NVLink racks around any API server.
//
// Nodes with kubelets, an IMEX daemon and a node agent each; on request also the control plane's
// controllers and scheduler. It speaks to the API server only through http::Client, so that the
// same nodes join the embedded server and a real one. Everything happens in step(), in an order
// that the seed decides; a thread or a test drives it. One thread.
//
// People inject faults with kubectl: annotation sandbox.compute-domain/fault on a Node, or on a
// Pod for its node; see Fault. Taking the annotation away heals.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute_domain/base/clock.h"
#include "compute_domain/base/result.h"
#include "compute_domain/http/client.h"
#include "compute_domain/sandbox/imex.h"
#include "compute_domain/sandbox/node_plugin.h"

namespace cdom::sandbox {

enum class Fault {
  PowerOff,     // "power-off": the node is dark; it boots anew, with another boot id, when healed
  ImexKill,     // "imex-kill": once, SIGKILL to the IMEX daemon; where none runs, to the next one
  ImexHang,     // "imex-hang": the daemon answers nobody; where none runs, the next one
  AgentCrash,   // "agent-crash": the node agent is gone; it starts again when healed
  Partition,    // "partition": the node's network is cut, containers and IMEX run on
  SlowApi,      // "slow-api": watch events come 2 s late, one request in three is lost
  WatchCut,     // "watch-cut": once, every watch of the agent breaks
  ImexCut,      // "imex-cut": IMEX daemons of other nodes do not reach this one's; all else works
  ImexSplit,    // "imex-split": IMEX daemons of nodes with it do not reach those of others
  FabricError,  // "fabric-error": the GPU driver does not say of which clique the node is
  FabricUnhealthy,  // "fabric-unhealthy": a GPU is in its clique, and its fabric is not healthy
  ImexForeign,  // "imex-foreign": somebody else's daemon runs there whenever the operator's does
                // not
};
std::string_view name_of(Fault fault);
std::optional<Fault> fault_named(std::string_view name);
// "power-off, imex-kill, …": all of them, for people.
std::string fault_names();

inline constexpr char kFaultAnnotation[] = "sandbox.compute-domain/fault";
// On a Node: the clique that its fabric names from now on.
inline constexpr char kCliqueAnnotation[] = "sandbox.compute-domain/clique";

// The pod in which an agent runs; its token is bound to it.
struct AgentPod {
  std::string ns, name, uid, node, service_account;
};

// A token of the agent's ServiceAccount, bound to its pod and valid for a day, as kubelet gets it
// (TokenRequest). `administrator` needs the right to create tokens.
base::Result<std::string> request_token(http::Client& administrator, const AgentPod& pod);

// What containers print: namespace, pod, container, text.
using PodLog = std::function<void(const std::string&, const std::string&, const std::string&,
                                  const std::string&)>;

// Where the cluster's parts get their clients and their agents from.
struct ClusterPorts {
  // A client for a part of the cluster ("system:kube-scheduler", "system:node:r1n01").
  std::function<std::unique_ptr<http::Client>(const std::string& user)> component_client;
  // A client for an agent. An error is tried again.
  std::function<base::Result<std::unique_ptr<http::Client>>(const AgentPod&)> agent_client;
  // Empty: nodes without a DRA driver.
  NodePluginFactory agent;
  PodLog log;  // may be empty
};

struct ClusterOptions {
  int racks = 2;
  int nodes_per_rack = 18;
  int plain_nodes = 0;  // further nodes, without a fabric
  std::uint64_t seed = 1;
  ImexParameters imex = ImexParameters::documented();
  bool control_plane = true;  // scheduler, claim, Job and node controllers, garbage collection
  std::string node_namespace = "compute-domain-nodes";  // where the agents' pods are
  // Of resource.k8s.io, in which kubelets read claims; the control plane needs v1.
  std::string resource_version = "v1";
  std::string agent_service_account = "compute-domain-agent";
  // In the same namespace, which owns the agents' pods when it is there; "": they have no owner. A
  // real control plane would replace such pods by its own.
  std::string agent_daemon_set;
  bool shuffle_nodes = false;  // the scheduler takes equal nodes in a seeded order, not by name
  // step() picks by seed whose turn it is, not one after the other; where there are some 100
  // nodes and more, for several steps.
  bool shuffle_steps = false;
};

class Cluster {
 public:
  Cluster(const base::Clock& clock, ClusterOptions options, ClusterPorts ports);
  ~Cluster();

  // One unit of work of some part; whether there was any.
  bool step();
  // The Clock::elapsed() at which step() is worth calling again without other news.
  [[nodiscard]] std::optional<base::Duration> next_due() const;

  [[nodiscard]] std::vector<std::string> nodes() const;
  // All nodes are registered, and agents run on all of them (if there are agents).
  [[nodiscard]] bool is_up() const;

  // As the annotation does; a fault stays until heal(). Throws std::out_of_range: no such node.
  void inject(const std::string& node, Fault fault);
  void heal(const std::string& node, Fault fault);
  void set_clique(const std::string& node, const std::string& clique);

  // What only a simulation can show: for the checks of tests.
  [[nodiscard]] const Imex& imex(const std::string& node) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cdom::sandbox
